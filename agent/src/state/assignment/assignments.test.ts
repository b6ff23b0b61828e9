import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { parseAssignment } from "./assignment-secret.ts";
import { createAssignmentStorage } from "./assignment-storage.ts";
import { createAssignments } from "./assignments.ts";
import type { AssignmentRequest } from "./intake.ts";

const ref = { namespace: agentNamespace, name: "assignment-web" };
const deployment = { name: "web", uid: "1" };
const assignment: AssignmentRequest = {
  deployment,
  deploymentId: "sha256:1",
  content: Buffer.from("content"),
  paused: false,
};

const missing: Secret = { metadata: { name: "" } };

/** Makes the next writes fail. */
function failNext(rest: MemoryApiServer, times = 1): void {
  let left = times;
  rest.beforeWrite = (write) => {
    left -= 1;
    if (left === 0) rest.beforeWrite = () => undefined;
    throw new Error(`${write}: 403`);
  };
}

function setUp(rest = createMemoryApiServer()) {
  const log = silentLog();
  const assignments = createAssignments({ storage: createAssignmentStorage({ rest, log }), log });
  const changes: string[] = [];
  assignments.onChange((name) => changes.push(name));
  const stored = async (): Promise<Secret | undefined> => await rest.get(secrets, ref);
  return { rest, assignments, changes, stored };
}

describe("an assignment", () => {
  test("is stored, reported, and loaded after a restart", async () => {
    const { rest, assignments, changes } = setUp();

    await assignments.assign(assignment);

    assert.deepEqual(changes, ["web"]);
    const { assignments: restarted } = setUp(rest);
    await restarted.load();
    assert.deepEqual(restarted.list(), [
      {
        owner: deployment,
        deploymentId: "sha256:1",
        content: Buffer.from("content"),
        paused: false,
        withdrawing: false,
      },
    ]);
    assert.deepEqual(restarted.observed(), [
      { ...deployment, deploymentId: "sha256:1", paused: false, withdrawing: false },
    ]);
  });

  test("is not written again when it is delivered again", async () => {
    const { rest, assignments, changes } = setUp();
    await assignments.assign(assignment);

    await assignments.assign(assignment);

    assert.deepEqual(rest.writes, ["create secrets flotilla-agent/assignment-web"]);
    assert.deepEqual(changes, ["web"]);
  });

  test("is used even if it cannot be stored, and stored when it is delivered again", async () => {
    const { rest, assignments, stored } = setUp();
    failNext(rest);

    assert.equal(await assignments.assign(assignment), false);
    assert.equal(assignments.get("web")?.deploymentId, "sha256:1");
    assert.equal(await stored(), undefined);

    assert.equal(await assignments.assign(assignment), true);
    assert.notEqual(await stored(), undefined);
  });

  test("is stored with the latest request when ensureStored resolves", async () => {
    const { rest, assignments, stored } = setUp();
    const gate = Promise.withResolvers<void>();
    rest.beforeWrite = () => gate.promise;
    const first = assignments.assign(assignment);
    const second = assignments.assign({ ...assignment, deploymentId: "sha256:2" });

    const ensured = assignments.ensureStored("web");
    gate.resolve();
    await ensured;

    assert.equal(parseAssignment((await stored()) ?? missing)?.deploymentId, "sha256:2");
    assert.deepEqual(await Promise.all([first, second]), [true, true]);
  });

  test("is stored by ensureStored after a failed write, or the error is thrown", async () => {
    const { rest, assignments, stored } = setUp();
    failNext(rest, 2);
    await assignments.assign(assignment);

    await assert.rejects(assignments.ensureStored("web"), {
      code: "ASSIGNMENT_NOT_STORED",
      message:
        "store the assignment in this cluster: create secrets flotilla-agent/assignment-web: 403",
    });
    await assignments.ensureStored("web");

    assert.notEqual(await stored(), undefined);
    await assignments.ensureStored("unknown");
  });

  test("keeps its content if only `paused` differs", async () => {
    const { assignments, stored } = setUp();
    await assignments.assign(assignment);
    const { content: _, ...bare } = assignment;

    await assignments.assign({ ...bare, paused: true });

    const found = parseAssignment((await stored()) ?? missing);
    assert.equal(found?.paused, true);
    assert.equal(Buffer.from(found.content).toString(), "content");
  });

  test("is rejected without its content if the agent has not stored it", async () => {
    const { rest, assignments } = setUp();
    const { content: _, ...bare } = assignment;

    await assert.rejects(assignments.assign(bare), /assigned web without its content sha256:1/);
    assert.deepEqual(rest.writes, []);
  });

  test("overwrites changes of the Secret by others", async () => {
    const { rest, assignments, stored } = setUp();
    await assignments.assign(assignment);
    rest.put(secrets, { metadata: { ...ref, labels: { touched: "yes" } } });

    await assignments.assign({ ...assignment, deploymentId: "sha256:2" });

    assert.equal(parseAssignment((await stored()) ?? missing)?.deploymentId, "sha256:2");
  });

  test("is stored if the Secret was deleted, or created by others", async () => {
    const { rest, assignments, stored } = setUp();
    rest.put(secrets, { metadata: ref });
    await assignments.assign(assignment);
    await rest.delete(secrets, ref);

    await assignments.assign({ ...assignment, deploymentId: "sha256:2" });

    assert.equal(parseAssignment((await stored()) ?? missing)?.deploymentId, "sha256:2");
  });

  test("is written in the order of delivery", async () => {
    const { assignments, stored } = setUp();

    await Promise.all(
      [1, 2, 3].map((n) => assignments.assign({ ...assignment, deploymentId: `sha256:${n}` })),
    );

    assert.equal(parseAssignment((await stored()) ?? missing)?.deploymentId, "sha256:3");
  });

  test("is ignored if it cannot be read", async () => {
    const { rest, assignments, stored } = setUp();
    const labels = { "flotilla.dev/assignment": "true" };
    rest.put(secrets, { metadata: { ...ref, labels }, data: {} });

    await assignments.load();

    assert.deepEqual(assignments.list(), []);
    assert.notEqual(await stored(), undefined);
  });
});

describe("what was approved to change with a content", () => {
  const approved = { diff: "d", at: "2026-12-01T10:00:00.000Z", key: Buffer.from("a plan's key") };
  const { content: _, ...bare } = assignment;

  test("is stored with it, and said to the hub by its time", async () => {
    const { rest, assignments } = setUp();

    await assignments.assign({ ...assignment, verification: approved });

    const { assignments: restarted } = setUp(rest);
    await restarted.load();
    assert.deepEqual(restarted.get("web")?.verification, approved);
    assert.equal(restarted.observed()[0]?.verificationAt, approved.at);
  });

  test("stays when the content is not sent again", async () => {
    const { assignments } = setUp();
    await assignments.assign({ ...assignment, verification: approved });

    await assignments.assign({ ...bare, paused: true });

    assert.deepEqual(assignments.get("web")?.verification, approved);
  });

  test("is replaced or removed when the content is", async () => {
    const { assignments, changes } = setUp();
    await assignments.assign({ ...assignment, verification: approved });
    const later = { ...approved, at: "2026-12-01T11:00:00.000Z" };

    await assignments.assign({ ...assignment, verification: later });
    assert.deepEqual(assignments.get("web")?.verification, later);
    await assignments.assign(assignment);

    assert.equal(assignments.get("web")?.verification, undefined);
    assert.deepEqual(changes, ["web", "web", "web"]);
  });
});

describe("a withdrawal", () => {
  test("is stored, and continues after a restart", async () => {
    const { rest, assignments } = setUp();
    await assignments.assign(assignment);

    assert.equal(await assignments.withdraw(deployment), "stored");
    assert.equal(await assignments.withdraw(deployment), "stored");

    assert.deepEqual(rest.writes, [
      "create secrets flotilla-agent/assignment-web",
      "replace secrets flotilla-agent/assignment-web",
    ]);
    const { assignments: restarted } = setUp(rest);
    await restarted.load();
    assert.equal(restarted.get("web")?.withdrawing, true);
  });

  test("of an earlier deployment of the same name does nothing", async () => {
    const { rest, assignments } = setUp();
    await assignments.assign(assignment);

    assert.equal(await assignments.withdraw({ name: "web", uid: "0" }), "unknown");
    assert.equal(await assignments.withdraw({ name: "unknown", uid: "1" }), "unknown");

    assert.deepEqual(rest.writes, ["create secrets flotilla-agent/assignment-web"]);
    assert.equal(assignments.get("web")?.withdrawing, false);
  });

  test("takes effect even if it cannot be stored", async () => {
    const { rest, assignments, stored } = setUp();
    await assignments.assign(assignment);
    failNext(rest);

    assert.equal(await assignments.withdraw(deployment), "not stored");
    assert.equal(assignments.get("web")?.withdrawing, true);
    await assignments.remove(deployment);

    assert.equal(await stored(), undefined);
  });

  test("deletes the assignment when it is complete", async () => {
    const { assignments, stored } = setUp();
    await assignments.assign(assignment);
    await assignments.withdraw(deployment);

    await assignments.remove(deployment);

    assert.equal(assignments.get("web"), undefined);
    assert.equal(await stored(), undefined);
  });

  test("removes only a withdrawn deployment", async () => {
    const { assignments, stored } = setUp();
    await assignments.assign(assignment);

    await assignments.remove(deployment);

    assert.notEqual(assignments.get("web"), undefined);
    assert.notEqual(await stored(), undefined);
  });

  test("does not remove a newer deployment of the same name", async () => {
    const { rest, assignments, stored } = setUp();
    await assignments.assign(assignment);
    await assignments.withdraw(deployment);
    let assigned: Promise<unknown> = Promise.resolve();
    rest.beforeWrite = (write) => {
      if (!write.startsWith("delete ")) return;
      assigned = assignments.assign({ ...assignment, deployment: { name: "web", uid: "2" } });
    };

    await assignments.remove(deployment);
    await assigned;

    assert.equal(assignments.get("web")?.owner.uid, "2");
    assert.equal(parseAssignment((await stored()) ?? missing)?.owner.uid, "2");
  });
});
