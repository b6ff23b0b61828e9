/** The part "layers" of `npm run check`: prints every import that breaks a rule of layers.ts. */
import { root } from "../run.ts";
import { layerViolations } from "./violations.ts";

const violations = await layerViolations(root);
for (const violation of violations) console.error(violation);
if (violations.length > 0) process.exitCode = 1;
