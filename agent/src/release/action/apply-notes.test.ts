import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import { describe, test } from "vitest";
import type { ReleaseRecord } from "../../helm/cli/release-record.ts";
import type { ApplyNotes, Refused } from "../../state/inventory/inventory-secret.ts";
import { mayTakeFields, planApply } from "./apply-notes.ts";

const desired = {
  ...{ owner: { id: "web", name: "web", uid: "1" }, namespace: "shop", name: "web", digest: "d2" },
};
const clientSide = { reason: "DuplicateKey", object: "Deployment shop/web", field: "a" } as const;
const forced = { ...plainContent, helm: { ...plainContent.helm, force: true } };

interface Known {
  readonly content?: DeploymentContent;
  /** The statuses of the revisions of the release, from the first one. */
  readonly history?: readonly string[];
  /** The notes of the revisions. */
  readonly notes?: readonly (ApplyNotes | undefined)[];
  readonly refused?: Refused;
}

function planOf({ content = plainContent, history = [], notes = [], refused }: Known) {
  const records = history.map(
    (status, index): ReleaseRecord => ({
      ...{ namespace: "shop", name: "web", revision: index + 1, status },
      ...{ isOwn: true, modifiedAtMs: 0 },
    }),
  );
  const deps = {
    releases: { history: () => records },
    attempts: { refusedOf: () => refused },
    inventory: {
      revisionOf: (_: unknown, revision: number) => {
        const known = notes[revision - 1];
        return { revision, content: "c", ...(known !== undefined && { notes: known }) };
      },
    },
  };
  const { options, notes: planned } = planApply(
    deps,
    { desired, content },
    { digest: "d2", latest: records.at(-1) },
  );
  return { method: options.serverSide, force: options.force, notes: planned };
}

describe("a run that a user has requested", () => {
  type Case = Parameters<typeof mayTakeFields>;
  const upgrade = { isInstall: false };
  const cases: readonly (readonly [string, Case[0], Case[1], boolean])[] = [
    [
      "takes fields as the revision before was applied",
      { force: false },
      { ...upgrade, applyMethod: "ssa" },
      true,
    ],
    [
      "takes none where the client applied it",
      { force: false },
      { ...upgrade, applyMethod: "csa" },
      false,
    ],
    ["takes none of a release of Helm 3", { force: false }, upgrade, false],
    [
      "takes fields in an installation, which is server-side",
      { force: false },
      { isInstall: true },
      true,
    ],
    [
      "takes none where the method is client-side",
      { force: false, serverSide: "false" },
      { isInstall: true },
      false,
    ],
    [
      "takes none where Helm replaces objects",
      { force: true },
      { ...upgrade, applyMethod: "ssa" },
      false,
    ],
    [
      "takes fields where the method is server-side",
      { force: false, serverSide: "true" },
      upgrade,
      true,
    ],
    [
      "takes none where Helm is to keep the client",
      { force: false, serverSide: "auto" },
      { ...upgrade, applyMethod: "csa" },
      false,
    ],
  ];
  for (const [what, options, known, expected] of cases)
    test(what, () => assert.equal(mayTakeFields(options, known), expected));
});

describe("a release is applied", () => {
  const cases: readonly (readonly [string, Known, ReturnType<typeof planOf>])[] = [
    ["as usual at first", {}, { method: undefined, force: false, notes: undefined }],
    [
      "client-side after it was refused",
      { refused: { digest: "d2", clientSide } },
      { method: "false", force: false, notes: { clientSide } },
    ],
    [
      "as usual after another content was refused",
      { refused: { digest: "d1", clientSide } },
      { method: undefined, force: false, notes: undefined },
    ],
    [
      "client-side as the revision before",
      { history: ["deployed"], notes: [{ clientSide }] },
      { method: "false", force: false, notes: { clientSide } },
    ],
    [
      "client-side as the revision before a failure",
      { history: ["superseded", "deployed", "failed"], notes: [undefined, { clientSide }] },
      { method: "false", force: false, notes: { clientSide } },
    ],
    [
      "as usual after the revision before was",
      { history: ["superseded", "deployed"], notes: [{ clientSide }, undefined] },
      { method: undefined, force: false, notes: undefined },
    ],
    [
      "as usual when it is installed again",
      { history: ["uninstalled"], notes: [{ clientSide }] },
      { method: undefined, force: false, notes: undefined },
    ],
    [
      "by patches after Helm could not replace it, and names what was replaced",
      {
        content: forced,
        refused: { digest: "d2", patched: true, replaced: ["Job shop/once"] },
      },
      { method: "false", force: false, notes: { patched: true, replaced: ["Job shop/once"] } },
    ],
    [
      "by patches as the revision before",
      { content: forced, history: ["deployed"], notes: [{ patched: true, replaced: ["Job a"] }] },
      { method: "false", force: false, notes: { patched: true } },
    ],
    [
      "client-side without a remark where force asks for it",
      { content: forced, history: ["deployed"], notes: [{ clientSide }] },
      { method: "false", force: true, notes: undefined },
    ],
  ];
  test.each(cases)("%s", (_, known, expected) => {
    assert.deepEqual(planOf(known), expected);
  });
});
