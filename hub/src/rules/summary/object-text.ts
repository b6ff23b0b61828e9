/** An object of a release in one line: `deployment.apps shop/web: 0 of 2 ready`. Pure; the form is Fleet's. */
import type { ModifiedStatus, NonReadyStatus } from "@flotilla/shared/api";

interface NamedObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** `deployment.apps shop/web`; what is in no group is called by its version, as in `service.v1 shop/web`. */
export function objectText({ apiVersion = "", kind = "", namespace, name = "" }: NamedObject) {
  const [groupOrVersion = ""] = apiVersion.split("/");
  return `${kind.toLowerCase()}.${groupOrVersion} ${objectId({ namespace, name })}`;
}

/** `namespace/name`, or the name of what has no namespace. */
export function objectId({ namespace, name = "" }: NamedObject): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

export function nonReadyText(status: NonReadyStatus): string {
  const message = status.summary?.message?.[0] || status.summary?.state || "is not ready";
  return `${objectText(status)}: ${message}`;
}

export function modifiedText(status: ModifiedStatus): string {
  const isNotOurs = status.missing === true && status.exist === true;
  const what = isNotOurs
    ? "is not owned by us"
    : status.missing === true
      ? "is missing"
      : status.delete === true
        ? "should not be there"
        : `was modified${status.patch ? ` ${status.patch}` : ""}`;
  return `${objectText(status)} ${what}`;
}
