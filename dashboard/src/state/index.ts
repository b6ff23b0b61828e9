export {
  type AnyState,
  byUrgency,
  lookOf,
  needsAttention,
  statesByUrgency,
  type Tone,
} from "./state.ts";
