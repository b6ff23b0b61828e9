/** The part "layers" of `npm run check`: prints every import that breaks a rule of layers.ts. `--all`: also those not in force. */
import { root } from "../run.ts";
import { inForce } from "./layers.ts";
import { layerViolations } from "./violations.ts";

const rules = process.argv.includes("--all")
  ? { packages: true, cycles: true, layers: true, entryPoints: true }
  : inForce;
const violations = await layerViolations(root, rules);
for (const violation of violations) console.error(violation);
if (violations.length > 0) process.exitCode = 1;
