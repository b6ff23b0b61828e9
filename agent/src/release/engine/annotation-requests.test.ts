import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { ReleaseAssignment } from "../../state/assignment/release-assignments.ts";
import type { InventoryRequest } from "../../state/inventory/inventory-secret.ts";
import type { InSync } from "../action/deploy-pass.ts";
import {
  type AnnotationRequestDeps,
  acceptRequest,
  answerBlocked,
  answerFailed,
  answerInstalled,
  openRequest,
} from "./annotation-requests.ts";

const release = { namespace: "apps", name: "web", revision: 4, chartVersion: "1", appVersion: "1" };

/** With one deployment, whose objects are compared when `compared` is called. */
function start({ handled }: { readonly handled?: string } = {}) {
  const stored: { handled: string | undefined; request?: InventoryRequest; resets?: boolean } = {
    handled,
  };
  const asked: string[] = [];
  let isCompared = false;
  const installed = {
    ...{ namespace: "apps", name: "web", uid: "u", deploymentId: "d" },
    ...{ keepResources: false, deleteCRDResources: false },
    revisions: [{ revision: 4, content: "" }],
  };
  const deps: AnnotationRequestDeps = {
    inventory: {
      releasesOf: () => [installed],
    },
    requests: {
      handledRequestOf: () => stored.handled,
      requestOf: () => stored.request,
      acceptRequest(_, request, { isHandled, resetsFailures }) {
        stored.request = request;
        stored.resets = resetsFailures;
        if (isHandled) stored.handled = request.token;
        return Promise.resolve();
      },
      answerRequest(_, result) {
        if (stored.request !== undefined) stored.request = { ...stored.request, result };
        return Promise.resolve();
      },
    },
    drift: {
      compareFor: (_, token) => void asked.push(token),
      comparedFor: () => (isCompared ? { isCorrected: false, corrected: 0 } : undefined),
      driftOf: () => ({
        ...{ mode: "warn", isChosen: false, objects: [], foreign: [], history: [] },
        ...{ backedOff: [], failures: [], correctable: [], corrects: false, uncompared: [] },
      }),
    },
  };
  const compared = () => {
    isCompared = true;
  };
  return { deps, stored, asked, compared };
}

function assignment(
  request: Partial<NonNullable<ReleaseAssignment["request"]>>,
): ReleaseAssignment {
  return {
    ...{
      owner: { id: "web", name: "web", uid: "u" },
      deploymentId: "d",
      content: new Uint8Array(),
    },
    ...{ paused: false, withdrawing: false },
    request: { token: "now", force: false, reset: false, ...request },
  };
}

const found = { release, drift: { options: {} } } as unknown as InSync;

describe("a request", () => {
  test("is accepted once, also by a process that starts meanwhile", async () => {
    const { deps, stored } = start();

    assert.equal(await acceptRequest(deps, assignment({})), true);
    assert.equal(await acceptRequest(deps, assignment({})), false);

    assert.deepEqual(stored.request, { token: "now", before: "apps/web:4" });
    assert.equal(stored.handled, "now");
  });

  test("to upgrade is handled by its run of Helm, and accepted once", async () => {
    const { deps, stored } = start();

    assert.equal(await acceptRequest(deps, assignment({ force: true })), true);
    assert.equal(await acceptRequest(deps, assignment({ force: true })), false);

    assert.equal(stored.handled, undefined);
  });

  test("to reset the failures resets them with the write that accepts it", async () => {
    const { deps, stored } = start();

    await acceptRequest(deps, assignment({ reset: true }));

    assert.deepEqual([stored.handled, stored.resets], ["now", true]);
  });

  test("that an older agent has handled is neither accepted nor answered", async () => {
    const { deps, stored, asked } = start({ handled: "now" });

    assert.equal(await acceptRequest(deps, assignment({})), false);
    await answerInstalled(deps, assignment({}), found);

    assert.equal(stored.request, undefined);
    assert.deepEqual(asked, []);
  });

  test("waits while the deployment is paused", async () => {
    const { deps, stored } = start();

    assert.equal(await acceptRequest(deps, { ...assignment({}), paused: true }), false);
    assert.equal(stored.request, undefined);
  });

  test("is answered once all objects were compared after it", async () => {
    const { deps, stored, asked, compared } = start();
    await acceptRequest(deps, assignment({}));

    await answerInstalled(deps, assignment({}), found);
    assert.deepEqual([asked, stored.request?.result], [["now"], undefined]);
    compared();
    await answerInstalled(deps, assignment({}), found);

    assert.deepEqual(stored.request?.result, { result: "InSync", revision: 4 });
    assert.equal(openRequest(deps.requests, "web"), undefined);
  });

  test("has the first failure as its result, not a later one", async () => {
    const { deps, stored } = start();
    await acceptRequest(deps, assignment({}));

    await answerFailed(deps, "web", { code: "HELM_FAILED", message: "no" });
    await answerFailed(deps, "web", { code: "HELM_TIMEOUT", message: "late" });

    assert.deepEqual(stored.request?.result, {
      ...{ result: "Failed", code: "HELM_FAILED", message: "no" },
    });
  });

  test("says what the deployment waits for", async () => {
    const { deps, stored } = start();
    await acceptRequest(deps, assignment({}));

    await answerBlocked(deps, "web", "waits for db");

    assert.deepEqual(stored.request?.result, { result: "Blocked", message: "waits for db" });
  });
});
