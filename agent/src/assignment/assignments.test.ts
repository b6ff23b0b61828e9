import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/core-resources.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import type { Assignment } from "../link/ports.ts";
import { createMemoryRest } from "../testing/memory-rest.ts";
import { heldAssignment } from "./assignment-secret.ts";
import { createAssignments } from "./assignments.ts";

const ref = { namespace: agentNamespace, name: "assignment-web" };
const deployment = { name: "web", uid: "1" };
const assignment: Assignment = {
  deployment,
  deploymentId: "sha256:1",
  content: Buffer.from("content"),
  paused: false,
};

function setUp(rest = createMemoryRest()) {
  const assignments = createAssignments({ rest, log: silentLog() });
  const changes: string[] = [];
  assignments.onChange((name) => changes.push(name));
  const stored = async (): Promise<Secret | undefined> => await rest.get(secrets, ref);
  return { rest, assignments, changes, stored };
}

suite("what a cluster was assigned", () => {
  test("is stored, told, and there again after a restart", async () => {
    const { rest, assignments, changes } = setUp();

    await assignments.assign(assignment);

    assert.deepEqual(changes, ["web"]);
    const { assignments: later } = setUp(rest);
    await later.load();
    assert.deepEqual(later.list(), [
      {
        owner: deployment,
        deploymentId: "sha256:1",
        content: Buffer.from("content"),
        paused: false,
        withdrawing: false,
      },
    ]);
    assert.deepEqual(later.holdings(), [
      { ...deployment, deploymentId: "sha256:1", paused: false, withdrawing: false },
    ]);
  });

  test("is not written once more when it is delivered once more", async () => {
    const { rest, assignments, changes } = setUp();
    await assignments.assign(assignment);

    await assignments.assign(assignment);

    assert.deepEqual(rest.writes, ["create assignment-web"]);
    assert.deepEqual(changes, ["web"]);
  });

  test("is written once more when it is delivered once more and could not be stored before", async () => {
    const { rest, assignments, stored } = setUp();
    rest.beforeWrite = () => {
      rest.beforeWrite = () => undefined;
      throw new Error("server away");
    };
    await assert.rejects(assignments.assign(assignment), /server away/);

    await assignments.assign(assignment);

    assert.notEqual(await stored(), undefined);
  });

  test("keeps its content when only the pause differs", async () => {
    const { assignments, stored } = setUp();
    await assignments.assign(assignment);
    const { content: _, ...bare } = assignment;

    await assignments.assign({ ...bare, paused: true });

    const held = heldAssignment((await stored()) ?? { metadata: { name: "" } });
    assert.equal(held?.paused, true);
    assert.equal(Buffer.from(held.content).toString(), "content");
  });

  test("is refused without a content that is not held", async () => {
    const { rest, assignments } = setUp();
    const { content: _, ...bare } = assignment;

    await assert.rejects(assignments.assign(bare), /assigned web without its content sha256:1/);
    assert.deepEqual(rest.writes, []);
  });

  test("is refused when it is larger than a Secret", async () => {
    const { rest, assignments } = setUp();

    await assert.rejects(
      assignments.assign({ ...assignment, content: Buffer.alloc(700 * 1024 + 1) }),
      /content of web takes 716801 bytes packed, more than the 716800/,
    );
    assert.deepEqual(rest.writes, []);
    await assignments.assign({ ...assignment, content: Buffer.alloc(700 * 1024) });
  });

  test("is stored over what somebody else made of the Secret", async () => {
    const { rest, assignments, stored } = setUp();
    await assignments.assign(assignment);
    rest.put(secrets, { metadata: { ...ref, labels: { touched: "yes" } } });

    await assignments.assign({ ...assignment, deploymentId: "sha256:2" });

    assert.equal(
      heldAssignment((await stored()) ?? { metadata: { name: "" } })?.deploymentId,
      "sha256:2",
    );
  });

  test("is stored anew when somebody deleted the Secret, or made one of that name first", async () => {
    const { rest, assignments, stored } = setUp();
    rest.put(secrets, { metadata: ref });
    await assignments.assign(assignment);
    await rest.delete(secrets, ref);

    await assignments.assign({ ...assignment, deploymentId: "sha256:2" });

    assert.equal(
      heldAssignment((await stored()) ?? { metadata: { name: "" } })?.deploymentId,
      "sha256:2",
    );
  });

  test("is written in order when changes come fast, and the last one stays", async () => {
    const { assignments, stored } = setUp();

    await Promise.all(
      [1, 2, 3].map((n) => assignments.assign({ ...assignment, deploymentId: `sha256:${n}` })),
    );

    assert.equal(
      heldAssignment((await stored()) ?? { metadata: { name: "" } })?.deploymentId,
      "sha256:3",
    );
  });

  test("is left alone where it cannot be read", async () => {
    const { rest, assignments, stored } = setUp();
    rest.put(secrets, { metadata: ref, data: {} });

    await assignments.load();

    assert.deepEqual(assignments.list(), []);
    assert.notEqual(await stored(), undefined);
  });
});

suite("a withdrawal", () => {
  test("is stored, so that a restart goes on with it", async () => {
    const { rest, assignments } = setUp();
    await assignments.assign(assignment);

    assert.equal(await assignments.withdraw(deployment), true);
    assert.equal(await assignments.withdraw(deployment), true);

    assert.deepEqual(rest.writes, ["create assignment-web", "replace assignment-web"]);
    const { assignments: later } = setUp(rest);
    await later.load();
    assert.equal(later.get("web")?.withdrawing, true);
  });

  test("of an earlier deployment of that name does nothing", async () => {
    const { rest, assignments } = setUp();
    await assignments.assign(assignment);

    assert.equal(await assignments.withdraw({ name: "web", uid: "0" }), false);
    assert.equal(await assignments.withdraw({ name: "unknown", uid: "1" }), false);

    assert.deepEqual(rest.writes, ["create assignment-web"]);
    assert.equal(assignments.get("web")?.withdrawing, false);
  });

  test("that was carried out leaves nothing", async () => {
    const { assignments, stored } = setUp();
    await assignments.assign(assignment);
    await assignments.withdraw(deployment);

    await assignments.remove(deployment);

    assert.equal(assignments.get("web"), undefined);
    assert.equal(await stored(), undefined);
  });

  test("removes nothing that was not withdrawn", async () => {
    const { assignments, stored } = setUp();
    await assignments.assign(assignment);

    await assignments.remove(deployment);

    assert.notEqual(assignments.get("web"), undefined);
    assert.notEqual(await stored(), undefined);
  });

  test("does not take with it a newer deployment of that name that comes meanwhile", async () => {
    const { rest, assignments, stored } = setUp();
    await assignments.assign(assignment);
    await assignments.withdraw(deployment);
    let assigned: Promise<void> = Promise.resolve();
    rest.beforeWrite = (write) => {
      if (!write.startsWith("delete ")) return;
      assigned = assignments.assign({ ...assignment, deployment: { name: "web", uid: "2" } });
    };

    await assignments.remove(deployment);
    await assigned;

    assert.equal(assignments.get("web")?.owner.uid, "2");
    assert.equal(heldAssignment((await stored()) ?? { metadata: { name: "" } })?.owner.uid, "2");
  });
});
