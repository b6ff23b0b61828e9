/** Version 1 of the wire, from its own contract, which is kept as it was when version 2 began. */
import { fileURLToPath } from "node:url";
import { type GrpcObject, loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { loadFleetService } from "../service.ts";

type Fleet = ReturnType<typeof loadFleetService>;

/**
 * A client and a service that can say and read nothing but version 1: what came later is lost on the way out, and an
 * unknown message comes in without a body.
 */
export function loadFleetV1(): Fleet {
  const file = new URL("fleet-v1.proto", import.meta.url);
  const loaded: GrpcObject = loadPackageDefinition(
    loadSync(fileURLToPath(file), { longs: String, enums: String, defaults: true, oneofs: true }),
  );
  // Version 2 only adds to version 1, so that its types describe both.
  return (loaded as unknown as { flotilla: { v1: { Fleet: Fleet } } }).flotilla.v1.Fleet;
}

/** The kinds of messages that a hub of version 1 sends. */
export const hubKindsV1 = [
  "welcome",
  "deployment",
  "withdrawal",
  "synced",
  "stateReceived",
  "facts",
  "supply",
  "supplyWithdrawal",
] as const;
