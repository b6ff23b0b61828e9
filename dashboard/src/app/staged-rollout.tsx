/** The staged rollouts of an app, read where the user may see them. */
import type { AppRef, ResponseOf } from "@flotilla/shared/dashboard";
import type { ReactNode } from "react";
import { useDetail } from "../detail/index.ts";
import { objectKey, useFleet } from "../fleet/index.ts";
import { RolloutHistory, StagesPanel } from "../rollout/index.ts";

type Shown = (rollouts: ResponseOf<"rollouts">) => ReactNode;

/** The newest one with its stages. Nothing for an app without any. */
export function StagedRollout({ app }: { readonly app: AppRef }) {
  return (
    <Rollouts app={app} placeholder={<div className="card stages-loading" aria-busy="true" />}>
      {({ current }) => current !== undefined && <StagesPanel app={app} rollout={current} />}
    </Rollouts>
  );
}

export function StagedRollouts({ app }: { readonly app: AppRef }) {
  return <Rollouts app={app}>{({ history }) => <RolloutHistory records={history} />}</Rollouts>;
}

interface RolloutsProps {
  readonly app: AppRef;
  /** While they are read, so that little moves. */
  readonly placeholder?: ReactNode;
  readonly children: Shown;
}

function Rollouts(props: RolloutsProps) {
  const isStaged = useFleet().apps.get(objectKey(props.app))?.isStaged === true;
  return isStaged ? <ReadRollouts {...props} /> : null;
}

function ReadRollouts({ app, placeholder = null, children }: RolloutsProps) {
  const { kind, namespace, name } = app;
  const { apps, rows, scheduleChanges } = useFleet();
  const key = objectKey(app);
  const { data, error } = useDetail<"rollouts">(
    `/api/v1/apps/${kind}/${namespace}/${name}/rollouts`,
    [apps.get(key), rows.get(key), scheduleChanges.get(namespace)],
  );
  if (error !== null) return <p role="alert">{error.message}</p>;
  return data === undefined ? placeholder : children(data);
}
