/** What to do, with the command to copy; and what something is a consequence of. */
import type { ClusterRelease } from "@flotilla/shared/dashboard";
import { Link } from "wouter";
import { pageOf } from "../address/index.ts";
import {
  adviceFor,
  blockerText,
  type Concern,
  concernAbout,
  type ObjectName,
  objectKey,
  ofRelease,
  useFleet,
} from "../fleet/index.ts";
import { needsAttention } from "../state/index.ts";
import { useCoarseNow } from "../time/index.ts";
import { CopyButton } from "./parts.tsx";

export interface AdviceProps {
  readonly concern: Concern;
  /** The cluster that is looked at, as `NAMESPACE/NAME`. */
  readonly cluster?: string;
}

export function AdviceText({ concern, cluster = concern.examples[0]?.cluster }: AdviceProps) {
  const advice = adviceFor(concern, cluster?.slice(cluster.indexOf("/") + 1));
  if (advice === undefined) return null;
  return (
    <div className="advice">
      <p>
        <strong>What to do:</strong> {advice.text}
      </p>
      {advice.command !== undefined && (
        <p>
          <code>{advice.command}</code> <CopyButton text={advice.command} what="the command" />
        </p>
      )}
    </div>
  );
}

/** The same advice as on the overview, on the page of the object. Nothing where it needs no attention. */
export function AdviceAbout({ object }: { readonly object: ObjectName }) {
  const about = concernAbout(useFleet(), object, useCoarseNow());
  if (about === undefined) return null;
  const { own, cause } = about;
  return (
    <div className="detail-why">
      {own.blocker !== undefined && <BlockedBy concern={own} />}
      {cause !== undefined && own.blocker === undefined && (
        <p>
          Caused by <ObjectLink {...cause} />.
        </p>
      )}
      {cause === undefined || own.blocker !== undefined ? (
        <AdviceText concern={own} />
      ) : (
        <p>
          <strong>What to do:</strong> correct that one first; this continues by itself.
        </p>
      )}
    </div>
  );
}

/** What to do about the release of an app in one cluster. */
export function AdviceForRelease({
  release,
  cluster,
}: {
  readonly release: Pick<ClusterRelease, "app" | "state" | "message" | "since">;
  readonly cluster: string;
}) {
  const { apps } = useFleet();
  const app = apps.get(objectKey(release.app));
  if (app === undefined || !needsAttention(release.state)) return null;
  return (
    <div className="detail-why">
      <AdviceText concern={ofRelease(app, release)} cluster={cluster} />
    </div>
  );
}

/** For an app that waits for what does not end by itself. */
export function BlockedBy({ concern }: { readonly concern: Concern }) {
  const { blocker, clusters } = concern;
  if (blocker === undefined) return null;
  const waiting = `${clusters.toLocaleString("en")} ${clusters === 1 ? "cluster waits" : "clusters wait"}`;
  const isItself = objectKey(blocker.ref) === objectKey(concern);
  if (isItself && blocker.why === "suspended")
    return <p className="blocked">It is suspended: {waiting} for it until it is resumed.</p>;
  if (isItself && blocker.why === "unmatched")
    return (
      <p className="blocked">
        Blocked: {blockerText(blocker, concern.namespace)} {waiting}.
      </p>
    );
  return (
    <p className="blocked">
      Blocked by <ObjectLink {...blocker.ref} />: {blockerText(blocker, concern.namespace)}{" "}
      {waiting}.
    </p>
  );
}

export function ObjectLink(object: ObjectName) {
  return (
    <Link href={pageOf(object)}>
      {object.kind} {object.name}
    </Link>
  );
}
