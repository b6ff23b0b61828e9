/**
 * An agent that crashes at any write of the cluster, of its own or of Helm, which ends with it: another one goes on from what is
 * stored, and comes to the same end.
 */
import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { plainContent } from "@flotilla/shared/content/testing";
import { describe, test } from "vitest";
import { endOf, type Played, play, type Scenario, type Step } from "./testing/index.ts";

const installed = { version: "1.0.0" };
const fails = { upgrade: "fails" } as const;
const remediated = (retries: number) => ({
  actions: { install: { remediation: { retries } }, upgrade: { remediation: { retries } } },
});
const tested = { actions: { test: { enable: true } } };
const kept = {
  actions: { install: { remediation: { retries: 1 } }, uninstall: { keepHistory: true } },
};
const exceeded: Step = { version: "1.1.0", content: remediated(0), helm: fails };
const last = { retries: 0, remediateLastFailure: true };
const waits = {
  helm: { ...plainContent.helm, maxHistory: 0, timeoutSeconds: 60 },
  actions: { upgrade: { remediation: last }, rollback: { disableWait: true } },
};
const atomic = { helm: { ...plainContent.helm, maxHistory: 0, atomic: true } };

const force = { token: "f", force: true, reset: false };
const reset = { token: "r", force: false, reset: true };

interface Crashed extends Scenario {
  /** What it may come to instead. */
  readonly or?: { readonly result: string; readonly failures: number };
  /** Not at this write. */
  readonly except?: RegExp;
}

/**
 * As in Flux, what was interrupted is upgraded, a first installation, too: then the policy of upgrades applies, with nothing to
 * roll back to.
 */
const upgradedInstead = { result: "failed ROLLBACK_TARGET_MISSING", failures: 1 };

const scenarios: Readonly<Record<string, Crashed>> = {
  "an installation": { step: installed },
  "an installation with tests": { step: { ...installed, content: tested } },
  "an installation that fails until no retries are left": {
    step: { ...installed, content: remediated(1), helm: fails },
    or: upgradedInstead,
  },
  "an installation that fails once": {
    step: { ...installed, content: remediated(1), helm: { upgrade: ["fails"] } },
    or: upgradedInstead,
  },
  "an installation that is repeated with its history kept": {
    step: { ...installed, content: kept, helm: { upgrade: ["fails"] } },
    or: upgradedInstead,
    // Helm has made the kept record one of a release that is not the agent's any more, and not yet the next one.
    except: /^create secrets .*v2$/,
  },
  "an upgrade": { given: [installed], step: { version: "1.1.0" } },
  "an upgrade that fails without retries": { given: [installed], step: exceeded },
  "an upgrade that fails until no retries are left": {
    given: [installed],
    step: { version: "1.1.0", content: remediated(1), helm: fails },
  },
  "an upgrade whose tests fail": {
    given: [{ ...installed, content: tested }],
    step: {
      version: "1.1.0",
      content: { actions: { upgrade: { remediation: last }, ...tested.actions } },
      helm: { test: "fails" },
    },
  },
  "an upgrade that is remediated by an uninstall": {
    given: [installed],
    step: {
      version: "1.1.0",
      content: { actions: { upgrade: { remediation: { retries: 1, strategy: "uninstall" } } } },
      helm: { upgrade: ["fails"] },
    },
  },
  "an upgrade that does not become ready": {
    given: [installed],
    step: { version: "1.1.0", content: waits, isReady: false },
  },
  "an upgrade that Helm rolls back, and then succeeds": {
    given: [installed],
    step: { version: "1.1.0", content: atomic, helm: { upgrade: ["fails"] } },
  },
  "an upgrade that a user has requested": {
    given: [installed],
    step: { ...installed, request: force },
  },
  "an upgrade that a user has requested, and that fails": {
    given: [installed],
    step: { ...installed, content: remediated(0), request: force, helm: fails },
  },
  "a reset that a user has requested": {
    given: [installed, exceeded],
    step: { version: "1.1.0", content: remediated(0), request: reset },
  },
  "a reset that a user has requested, and another failure": {
    given: [installed, exceeded],
    step: { ...exceeded, request: reset },
  },
  "a move to another namespace": {
    given: [installed],
    step: { version: "1.0.0", content: { namespace: "market" } },
  },
  "a withdrawal": { given: [installed], step: { ...installed, withdraws: true } },
  "a withdrawal after an upgrade that failed": {
    given: [installed, exceeded],
    step: { version: "1.1.0", content: remediated(0), withdraws: true },
  },
};

const commands = ["upgrade", "rollback", "uninstall", "test"];

function countOf({ runs }: Played, command: string): number {
  return runs.filter((run) => run.startsWith(`${command} `)).length;
}

function outcomeOf({ cluster, agent, result }: Played) {
  const end = endOf(cluster, agent);
  return { result, ...end, request: end.request.token };
}

function answerOf({ cluster, agent }: Played): string {
  const { result, code } = endOf(cluster, agent).request;
  return code === undefined ? `${result}` : `${result} ${code}`;
}

/** Asserts that one disturbed run of a scenario comes to what the undisturbed one has come to. */
function assertSame(disturbed: Played, undisturbed: Played, { or }: Crashed, what: string): void {
  const end = outcomeOf(disturbed);
  const [answer, expected] = [disturbed, undisturbed].map(answerOf);
  const at = `${what}: ${disturbed.runs.join("; ")}`;
  if (end.result === or?.result) assert.equal(end.failures, or.failures, at);
  else assert.deepEqual(end, outcomeOf(undisturbed), at);
  // The first failure is the answer, whatever follows it.
  if (answer !== "Failed INVENTORY_NOT_STORED") assert.equal(answer, expected, at);
  for (const command of commands)
    assert.ok(
      countOf(disturbed, command) <= countOf(undisturbed, command) + 1,
      `more than one ${command} more: ${at}`,
    );
}

describe("with a crash at any write", () => {
  for (const [name, scenario] of Object.entries(scenarios))
    test(`${name} comes to the same end`, async () => {
      const undisturbed = await play(scenario);
      const writes = [...undisturbed.cluster.writes];
      assert.ok(writes.length > 0);

      for (const [index, write] of writes.entries()) {
        if (scenario.except?.test(write)) continue;
        const crashed = await play(scenario, { crashAtWrite: index + 1 });

        assertSame(crashed, undisturbed, scenario, `crash at write ${index + 1}, ${write}`);
      }
    });
});

describe("with a failure of any write of the agent's own", () => {
  const names = [
    ...["an installation", "an installation that fails once", "an upgrade", "a withdrawal"],
    ...["an upgrade that is remediated by an uninstall", "a move to another namespace"],
    ...["an upgrade that a user has requested", "a reset that a user has requested"],
  ];

  for (const [name, scenario] of Object.entries(scenarios).filter(([name]) => names.includes(name)))
    test(`${name} comes to the same end`, async () => {
      const undisturbed = await play(scenario);

      for (const [index, write] of [...undisturbed.cluster.writes].entries()) {
        if (!write.includes(` ${agentNamespace}/`)) continue;
        const failed = await play(scenario, { failedWrite: index + 1 });

        assertSame(failed, undisturbed, scenario, `failure of write ${index + 1}, ${write}`);
      }
    });
});
