export { aGate, aRollout, aStage } from "./objects.ts";
