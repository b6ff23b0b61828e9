/** Which clusters wait with a request to force, in a rollout with stages. */
import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { heldRequests } from "./forced-requests.ts";
import type { ClassedMember, Member } from "./member.ts";

const ready: Member = {
  ...{ key: "", content: "v1", desired: "v1", applied: "v1", isReady: true },
  ...{ unreadySinceMs: undefined, promotion: undefined, hasGivenUp: false },
  ...{
    waitsForDependency: false,
    dependencies: [],
    dependenciesMetMs: undefined,
    tests: "None",
    testsPassed: undefined,
  },
  ...{ isConnected: true, offlineSince: "", isPaused: false, wasPaused: false },
  ...{ isOffSchedule: false, isHeld: false, isSkipped: false, force: "waiting", message: "" },
};

const broken = { isReady: false } as const;
const answered = { force: "answered" } as const;
const sent = { force: "sent" } as const;

/** c0, c1 and so on, in their order. */
function part(
  fields: readonly Partial<Member>[],
  { max = 2, maxFailures = 0, prefix = "c", isWindowOpen = true } = {},
) {
  const members = fields.map(
    (own, index): ClassedMember => ({
      member: { ...ready, key: `${prefix}${index}`, ...own },
      class: own.hasGivenUp === true ? "failed" : own.isReady === false ? "inFlight" : "done",
      isBrokenBefore: false,
      failsAtMs: undefined,
      lacksApproval: false,
      isUnapproved: false,
    }),
  );
  return { members, limits: { maxUnavailable: max, maxFailures }, isWindowOpen };
}

describe("a request to force is held", () => {
  type Row = readonly [what: string, fields: readonly Partial<Member>[], held: readonly string[]];
  const rows: readonly Row[] = [
    ["beyond the limit", [{}, {}, {}], ["c2"]],
    ["while others have not answered", [sent, sent, {}], ["c2"]],
    ["not any more when they have", [answered, sent, {}], []],
    [
      "while those that have answered are not ready",
      [{ ...answered, ...broken }, { ...answered, ...broken }, {}],
      ["c2"],
    ],
    ["not from those that are not ready, which come first", [{}, {}, broken], ["c1"]],
    ["beyond the limit, also from those that are not ready", [broken, broken, broken], ["c2"]],
    ["where the cluster is offline, and takes no place", [{ isConnected: false }, {}, {}], ["c0"]],
    ["where it went offline before it answered", [{ ...sent, isConnected: false }, {}, {}], ["c0"]],
    ["where the cluster is paused", [{ isPaused: true }, {}], ["c0"]],
    ["where its Schedules are closed", [{ isOffSchedule: true }, {}], ["c0"]],
    ["where nothing is deployed", [{ desired: "", applied: "", isReady: false }, {}], ["c0"]],
    [
      "nowhere without a request",
      [{ force: undefined }, { force: undefined }, { force: undefined }],
      [],
    ],
  ];
  test.each(rows)("%s", (_, fields, held) => {
    assert.deepEqual([...heldRequests([part(fields)])], held);
  });

  test("in later stages until all of the first have answered and are ready", () => {
    const rest = part([{}, {}], { prefix: "p" });
    const held = (canary: Partial<Member>) => [...heldRequests([part([canary]), rest])];

    assert.deepEqual(held({}), ["p0", "p1"]);
    assert.deepEqual(held(sent), ["p0", "p1"]);
    assert.deepEqual(held({ ...answered, ...broken }), ["p0", "p1"]);
    assert.deepEqual(held(answered), []);
    assert.deepEqual(held({ isConnected: false }), ["c0"]);
  });

  test("no longer by a failure that the stage tolerates", () => {
    const failed = { ...answered, ...broken, hasGivenUp: true };
    const held = (maxFailures: number) => [
      ...heldRequests([part([failed], { maxFailures }), part([{}], { prefix: "p" })]),
    ];

    assert.deepEqual(held(0), ["p0"]);
    assert.deepEqual(held(1), []);
  });

  test("while the windows of the stage are closed", () => {
    assert.deepEqual([...heldRequests([part([{}], { isWindowOpen: false })])], ["c0"]);
  });

  test("so that never more than the limit are sent or not ready, whatever happens", () => {
    let seed = 7;
    const random = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed / 2 ** 32;
    };
    for (let run = 0; run < 300; run += 1) {
      const states: Partial<Member>[] = Array.from({ length: 6 }, () => ({}));
      const max = 1 + Math.floor(random() * 3);
      for (let step = 0; step < 60; step += 1) {
        const now = part(states, { max });
        const held = heldRequests([now]);
        for (const [index, { member }] of now.members.entries())
          if (member.force === "waiting" && !held.has(member.key))
            states[index] = { ...states[index], ...sent };
          else if (member.force === "sent" && held.has(member.key))
            states[index] = { ...states[index], force: "waiting" };
        const busy = states.filter(
          ({ force, isConnected = true }) => force === "sent" && isConnected,
        ).length;
        assert.ok(busy <= max, `${busy} of ${max} at once`);
        const index = Math.floor(random() * states.length);
        const state = states[index] ?? {};
        const roll = random();
        if (roll < 0.5 && state.force === "sent") states[index] = { ...answered };
        else if (roll < 0.6) states[index] = { ...state, isConnected: state.isConnected === false };
      }
      for (let round = 0; round < 10; round += 1) {
        const connected = states.map((state) => ({ ...state, isConnected: true }));
        const held = heldRequests([part(connected, { max })]);
        for (const [index, state] of connected.entries())
          states[index] = held.has(`c${index}`) ? state : { ...answered };
      }
      assert.ok(
        states.every(({ force }) => force === "answered"),
        "each is asked in the end",
      );
    }
  });
});
