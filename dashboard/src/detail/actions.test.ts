import assert from "node:assert/strict";
import type { Action } from "@flotilla/shared/dashboard";
import { createElement } from "react";
import { describe, test } from "vitest";
import { SessionContext } from "../session/session.ts";
import { readPage } from "../testing/read-page.ts";
import { Actions } from "./actions.tsx";

const target = { kind: "HelmOp", namespace: "ns", name: "web" } as const;
const session = {
  user: "ada",
  groups: [],
  csrfToken: "token",
  expiresAt: "2026-01-01T20:00:00Z",
  namespaces: ["ns"],
  hub: { version: "1.0.0", replica: "hub-0" },
};
const command = "flotilla suspend helmop web -n ns";

const suspend: Action = { action: "suspend", allowed: true, command };
const retry: Action = { action: "retry", allowed: true, command: "flotilla reconcile --reset" };

function read(actions: readonly Action[], query = "") {
  const children = createElement(Actions, { target, actions });
  return readPage(createElement(SessionContext, { value: session, children }), { query });
}

describe("the actions of an object", () => {
  test("are buttons, and none runs before it was opened", () => {
    const { text, buttons } = read([suspend, retry]);

    assert.deepEqual(buttons, ["Suspend", "Retry"]);
    assert.equal(text, "Suspend Retry");
  });

  test("the one in the address says what it does, and the command that does the same", () => {
    const { text, buttons } = read([suspend, retry], "action=suspend");

    assert.match(text, /^Suspend Stop reconciling until it is resumed\. /);
    assert.ok(text.includes(command));
    assert.doesNotMatch(text, /flotilla reconcile/);
    assert.deepEqual(buttons, ["Suspend", "copy", "Suspend", "Cancel", "Retry"]);
  });

  test("one that the user may not run says why", () => {
    const reason = "that needs patch on helmops in namespace ns";
    const { text } = read([{ ...suspend, allowed: false, reason }], "action=suspend");

    assert.ok(text.includes(reason), text);
    assert.doesNotMatch(read([{ ...suspend, allowed: false, reason }]).text, /that needs/);
  });

  test("an address that names none of them opens none", () => {
    assert.equal(read([retry], "action=suspend").text, "Retry");
  });
});
