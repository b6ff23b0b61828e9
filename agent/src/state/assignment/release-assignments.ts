/**
 * The releases that the assigned deployments are made of. The agent installs, reports and remembers each by itself; only the hub's
 * messages and what is reported are about deployments.
 */
import type { DeploymentKey } from "@flotilla/proto";
import type { OwnerKey } from "../inventory/inventory-document.ts";
import type { Assignment } from "./assignment-secret.ts";
import type { Assignments } from "./assignments.ts";

/**
 * Whose a release is: the deployment that labels and the hub name, and the id of the release on this agent. The only release of a
 * deployment has the name of that as its id; one of several has `<deployment>/<namespace>/<name>`.
 */
export interface ReleaseOwner extends DeploymentKey, OwnerKey {}

/** What is desired of one release. `deploymentId` and `content` are its own. */
export interface ReleaseAssignment extends Assignment {
  readonly owner: ReleaseOwner;
}

/**
 * The releases of a deployment, each with an id of its own. One that is to be uninstalled is still among them, as withdrawing: absence
 * uninstalls nothing.
 */
export type AssignmentsOf = (deployment: Assignment) => readonly ReleaseAssignment[];

/** A deployment is one release. */
export const singleRelease: AssignmentsOf = (deployment) => {
  const { owner } = deployment;
  return [{ ...deployment, owner: { ...owner, id: owner.name } }];
};

/** The name of the deployment that a release is of. */
export function deploymentOf(id: string): string {
  const [deployment = id] = id.split("/", 1);
  return deployment;
}

/** Whether a release is the only one of its deployment, so that all that the labels name as the deployment's is of it. */
export function isOnlyRelease({ id, name }: ReleaseOwner): boolean {
  return id === name;
}

export interface ReleaseAssignments {
  /** Undefined also for one that was withdrawn. */
  get(id: string): ReleaseAssignment | undefined;
  list(): readonly ReleaseAssignment[];
  /** The assignments of a deployment, without the withdrawn ones. */
  of(deployment: string): readonly ReleaseAssignment[];
  /**
   * A release was withdrawn. Removes its deployment if that is being withdrawn and this was the last of its releases; returns whether it
   * was.
   */
  remove(assignment: ReleaseAssignment): Promise<boolean>;
  /** Called with the id of each release of a deployment that has changed. */
  onChange(listener: (id: string) => void): void;
}

export function createReleaseAssignments(
  assignments: Pick<Assignments, "get" | "list" | "remove" | "onChange">,
  assignmentsOf: AssignmentsOf = singleRelease,
): ReleaseAssignments {
  /** An assignment is replaced when it changes. */
  const known = new WeakMap<Assignment, readonly ReleaseAssignment[]>();
  const deployments = new WeakMap<ReleaseAssignment, Assignment>();
  const withdrawn = new WeakSet<ReleaseAssignment>();

  function allOf(deployment: Assignment): readonly ReleaseAssignment[] {
    const before = known.get(deployment);
    if (before !== undefined) return before;
    const releases = assignmentsOf(deployment);
    known.set(deployment, releases);
    for (const release of releases) deployments.set(release, deployment);
    return releases;
  }

  function presentOf(deployment: Assignment | undefined): readonly ReleaseAssignment[] {
    if (deployment === undefined) return [];
    return allOf(deployment).filter((release) => !withdrawn.has(release));
  }

  const of = (deployment: string) => presentOf(assignments.get(deployment));

  return {
    get: (id) => of(deploymentOf(id)).find(({ owner }) => owner.id === id),
    list: () => assignments.list().flatMap(presentOf),
    of,
    async remove(release) {
      const deployment = deployments.get(release);
      const others = presentOf(deployment).filter((each) => each !== release);
      const isLast = deployment?.withdrawing === true && others.length === 0;
      if (isLast) await assignments.remove(deployment.owner);
      withdrawn.add(release);
      return isLast;
    },
    onChange(listener) {
      assignments.onChange((name) => {
        for (const { owner } of of(name)) listener(owner.id);
      });
    },
  };
}
