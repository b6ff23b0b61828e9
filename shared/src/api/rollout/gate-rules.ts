/**
 * The rules of a Gate that the API server checks with every write, in CEL: what it is about is never changed, and a decision is about
 * exactly that. Who decides is checked by a ValidatingAdmissionPolicy (`admission`), because a CRD does not know the user.
 */
import type { GateType, ValidationRule } from "../fleet/index.ts";

/** The types that people and controllers decide; the hub decides all others by itself. */
const decidedByPeople: readonly GateType[] = ["Approval", "External"];

const decision = "(has(self.status) && has(self.status.decision))";
const decisionBefore = "(has(oldSelf.status) && has(oldSelf.status.decision))";

/** For the spec of a Gate. */
export const gateSpecRules: readonly ValidationRule[] = [
  { rule: "self == oldSelf", message: "the spec of a Gate is never changed" },
];

/** For the whole of a Gate. */
export const gateRules: readonly ValidationRule[] = [
  {
    rule: `!${decision} || self.status.decision.digest == self.spec.digest`,
    message: "decision.digest must be the digest of the spec",
  },
  {
    rule: `!${decision} || self.spec.type in [${decidedByPeople.map((type) => `'${type}'`).join(", ")}]`,
    message:
      "only gates of the types Approval and External have a decision; others are decided by the hub",
  },
  {
    rule: `!${decisionBefore} || (${decision} && self.status.decision == oldSelf.status.decision)`,
    message: "a decision cannot be changed or removed",
  },
];
