/** A right that the API server says is missing, as one sentence for people. Pure. */

export interface MissingRight {
  /** As the API server knows the account: `system:serviceaccount:NAMESPACE:NAME`. */
  readonly user: string;
  readonly verb: string;
  /** With its subresource, such as `helmops/status`. */
  readonly resource: string;
  /** Empty: the core group. */
  readonly group: string;
  /** Absent: the cluster scope. */
  readonly namespace?: string;
  /** The name of the object; absent for a list, or if the server does not say it. */
  readonly name?: string;
}

/** A value of a chart of ours that grants a right. */
export interface Grant {
  readonly chart: string;
  readonly value: string;
}

/** Undefined for a right that no chart of ours grants, such as one of a tenant's account. */
export type GrantOf = (right: MissingRight) => Grant | undefined;

/**
 * What Kubernetes' authorizers answer; client-go, and so Helm, repeats it. The lengths are bounded because a chart may print
 * anything.
 */
const denials =
  /(?:\S{1,253} is forbidden: |\S{1,253} "(?<name>[^"\s]{0,253})" is forbidden: )?User "(?<user>[^"]{1,512})" cannot (?<verb>[^\s"]{1,63}) resource "(?<resource>[^"]{1,253})" in API group "(?<group>[^"]{0,253})" (?:in the namespace "(?<namespace>[^"]{1,63})"|at the cluster scope)/g;

/** The text with a sentence in place of each denial: verb, resource, API group, namespace, account, and what grants it. */
export function explainDenials(text: string, grantOf: GrantOf = () => undefined): string {
  return text.replace(denials, (...match: readonly unknown[]) => {
    // The named groups are the last argument.
    const groups = match.at(-1) as Readonly<Record<string, string | undefined>>;
    const { user = "", verb = "", resource = "", group = "", namespace, name } = groups;
    const right = {
      user,
      verb,
      resource,
      group,
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
    };
    return sentenceOf(right, grantOf(right));
  });
}

function sentenceOf(right: MissingRight, grant: Grant | undefined): string {
  const { user, verb, resource, group, namespace, name } = right;
  const object = name === undefined ? resource : `${resource} "${name}"`;
  const where = namespace === undefined ? "at the cluster scope" : `in namespace ${namespace}`;
  const by =
    grant === undefined ? "" : `; the value ${grant.value} of the chart ${grant.chart} grants it`;
  return `${accountOf(user)} may not ${verb} ${object} of API group "${group}" ${where}${by}`;
}

function accountOf(user: string): string {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  return namespace === undefined ? `user "${user}"` : `service account ${namespace}/${name}`;
}
