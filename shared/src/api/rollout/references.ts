/** References that BundleRollouts and Gates have in common. */
import * as z from "zod";
import { described, fields } from "../fleet/index.ts";

/** Longest list of names in a status or a Gate: enough to see what it is about, and small for a fleet of any size. */
export const maxNamed = 10;

const maxNameLength = 253;
const maxUidLength = 64;

/** `sha256:` and a digest. */
export function digest(description: string) {
  return described(z.string().max(128), description);
}

/** A point in time that is always there, RFC 3339. */
export function timeOf(description: string) {
  return described(z.string().max(32), description, { format: "date-time" });
}

/** A point in time that may be absent, RFC 3339. */
export function optionalTime(description: string) {
  return described(z.string().max(32).optional(), description, { format: "date-time" });
}

/** The name of an object of the same namespace. */
export const name = z.string().min(1).max(maxNameLength);

/** The name of a gate in the strategy. */
export const partName = z.string().min(1).max(40);

/** The name of a stage. */
export const stageName = z.string().min(1).max(63);

export const uid = z.string().min(1).max(maxUidLength);

/** An object of the same namespace that may be deleted and created again under its name. */
export function objectWithUid(kind: string) {
  return fields({
    name: described(name, `The ${kind}'s name.`),
    uid: described(uid, "Its UID."),
  });
}

export const appSchema = fields({
  kind: described(z.string().max(63), "The app's kind, such as `HelmOp`."),
  name: described(name, "The app's name, in the same namespace."),
});

/** A cluster of any workspace. */
export const clusterName = z.string().max(2 * maxNameLength + 1);

export const clusterListSchema = fields({
  count: described(z.int().min(0), "How many."),
  first: described(
    z.array(clusterName).max(maxNamed),
    "The first of them, in the order in which they are promoted, as `namespace/name`, at most ten.",
  ),
});
