export {
  type AnyState,
  byUrgency,
  lookOf,
  needsAttention,
  suspendedChip,
  type Tone,
  urgencyOf,
} from "./state.ts";
