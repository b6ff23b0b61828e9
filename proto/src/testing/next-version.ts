/**
 * A fictitious next version of the contract, derived from fleet.proto, for tests of negotiation and of unknown fields.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type GrpcObject, loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { type loadFleetService, supportedVersions } from "../index.ts";
import type { VersionRange } from "../versions.ts";

/** The versions of a build that has one more than this one. */
export const nextVersions: VersionRange = {
  oldest: supportedVersions.newest,
  newest: supportedVersions.newest + 1,
};

/** The field that `Hello`, `Welcome` and `Deployment` have in the next version. */
export const addedField = { addedLater: "from the next version" } as const;

/** The service of the next version: fields added to messages, and a message added to each direction. */
export function loadNextVersion(): ReturnType<typeof loadFleetService> {
  const text = readFileSync(fileURLToPath(new URL("../../fleet.proto", import.meta.url)), "utf8");
  const next = text
    .replaceAll(/^message (Hello|Welcome|Deployment) \{$/gm, "$&\n  string added_later = 1000;")
    .replaceAll(
      /^message (AgentMessage|HubMessage) \{\n {2}oneof body \{$/gm,
      "$&\n    AddedLater added_message = 1000;",
    )
    .concat("message AddedLater {\n  string name = 1;\n}\n");
  const dir = mkdtempSync(join(tmpdir(), "flotilla-proto-"));
  try {
    const file = join(dir, "fleet.proto");
    writeFileSync(file, next);
    const loaded: GrpcObject = loadPackageDefinition(
      loadSync(file, { longs: String, enums: String, defaults: true, oneofs: true }),
    );
    // The next version only adds to this one, so the types of this one describe it.
    return (
      loaded as unknown as { flotilla: { v1: { Fleet: ReturnType<typeof loadFleetService> } } }
    ).flotilla.v1.Fleet;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
