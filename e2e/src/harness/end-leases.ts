/** Runs before each e2e file: the control planes of the last file of the process go back to the pool. */
import { endLeases } from "./control-planes.ts";

await endLeases();
