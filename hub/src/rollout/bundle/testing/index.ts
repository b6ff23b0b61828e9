export { placed } from "./placed.ts";
export { createPreparer, direct, helm, pins, signer, targets } from "./preparer.ts";
export { testStagedRollouts } from "./staged.ts";
