/** Labels and annotations of rollouts. */

/** On a BundleRollout: its Bundle. */
export const rolloutBundleLabel = "flotilla.dev/bundle";
/** On a Gate: its BundleRollout. */
export const rolloutLabel = "flotilla.dev/rollout";
/** On a Gate: its stage. */
export const stageLabel = "flotilla.dev/stage";
/** On a Gate: its name in the strategy. */
export const gateLabel = "flotilla.dev/gate";
