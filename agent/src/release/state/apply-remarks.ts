/** What a user should know of how a revision was applied, in sentences. Pure. */
import type { ApplyNotes } from "../../state/index.ts";

const reasons = {
  DuplicateKey: "two entries of it have the same key",
  UnknownField: "this cluster's version of the kind does not have it",
  GenerateName: "it needs a name",
  ServerField: "only the API server sets it",
  ControllerField: "a controller of the cluster has written it",
  Defaulted: "it was set by default, and does not go with what the chart has beside it",
} as const;

/** The names that a sentence has. */
const shownObjects = 5;

/** Empty for a revision that was applied as usual. */
export function applyRemarks({
  clientSide,
  replaced = [],
  taken = [],
}: ApplyNotes = {}): readonly string[] {
  return [
    ...(clientSide === undefined ? [] : [clientSideText(clientSide)]),
    ...(replaced.length === 0 ? [] : [`deleted and created again: ${listed(replaced)}`]),
    ...(taken.length === 0 ? [] : [`taken from other managers: ${listed(taken)}`]),
  ];
}

function clientSideText({ object, field, reason }: NonNullable<ApplyNotes["clientSide"]>): string {
  return `applied client-side, because server-side apply refuses ${field} of ${object}: ${reasons[reason]}`;
}

function listed(objects: readonly string[]): string {
  const more = objects.length - shownObjects;
  const shown = objects.slice(0, shownObjects).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}
