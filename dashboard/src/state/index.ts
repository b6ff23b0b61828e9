export {
  type AnyState,
  byUrgency,
  lookOf,
  needsAttention,
  type Tone,
  urgencyOf,
} from "./state.ts";
