/** A duration as Go writes them, without a sign: `5m`, `1h30m`, `0`. */
import { z } from "zod";
import { durationRule } from "./validation-rules.ts";

export const duration = z
  .string()
  .max(32)
  .meta({ "x-kubernetes-validations": [durationRule] });
