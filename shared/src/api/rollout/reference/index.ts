export { rolloutReference } from "./rollout-reference.ts";
