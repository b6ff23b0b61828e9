import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { createInventory } from "../../state/inventory/create-inventory.ts";
import { readRecordsHere } from "../record/testing/index.ts";
import { type ReleaseRecord, recordSecretName } from "./release-record.ts";
import { createStoredReleases } from "./stored-releases.ts";

const locked: ReleaseRecord = {
  ...{ namespace: "apps", name: "web", revision: 2, status: "pending-upgrade" },
  ...{ isOwn: true, modifiedAtMs: 0 },
};
const ref = { namespace: "apps", name: recordSecretName(locked) };

/** As Helm stores a revision. */
function stored(status: string): Secret {
  const release = { name: "web", namespace: "apps", version: 2, info: { status }, manifest: "" };
  const packed = gzipSync(JSON.stringify(release)).toString("base64");
  return {
    metadata: { ...ref, labels: { owner: "helm", name: "web", version: "2", status } },
    data: { release: Buffer.from(packed).toString("base64") },
  };
}

function setUp(status: string) {
  const rest = createMemoryApiServer();
  rest.put(secrets, stored(status));
  const log = silentLog();
  const statuses: string[] = [];
  const releases = {
    ...{ reader: () => rest, history: () => [], removed: () => undefined },
    ran: (record: Pick<ReleaseRecord, "status">) => void statuses.push(record.status),
  };
  const { inventory } = createInventory({ rest, log });
  const { unlock } = createStoredReleases({ releases, records: readRecordsHere, inventory, log });
  return { rest, statuses, unlock: () => unlock(rest, locked) };
}

describe("a release that is to be unlocked", () => {
  test("is marked as failed", async () => {
    const { rest, statuses, unlock } = setUp("pending-upgrade");

    await unlock();

    assert.equal(rest.peek(secrets, ref)?.metadata.labels?.["status"], "failed");
    assert.deepEqual(statuses, ["failed"]);
  });

  test("is not changed if its Helm process has finished, which the cache has not seen yet", async () => {
    const { rest, statuses, unlock } = setUp("deployed");

    await unlock();

    assert.deepEqual(rest.writes, []);
    assert.deepEqual(statuses, ["deployed"]);
  });

  test("is not created again if it does not exist any more", async () => {
    const { rest, unlock } = setUp("pending-upgrade");
    rest.remove(secrets, ref);

    await unlock();

    assert.deepEqual(rest.writes, []);
  });
});
