/** What a chart's templates may reach outside of the chart, from what its HelmOp says and as whom Helm acts. Pure. */
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import type { OutsideCalls } from "./template-calls.ts";

type Allowance = Pick<DeploymentContent["helm"], "disableLookup" | "disableDNS">;

/** The first that is not allowed, as a sentence that says what allows it; undefined when Helm may render. */
export function refusalOf(
  { lookup, getHostByName }: OutsideCalls,
  { disableLookup, disableDNS }: Allowance,
  actsAsAgent: boolean,
): string | undefined {
  if (lookup !== undefined && disableLookup === true)
    return `${lookup} calls lookup, which helm.disableLookup forbids`;
  if (lookup !== undefined && disableLookup === undefined && actsAsAgent)
    return `${lookup} calls lookup, which would read this cluster with all the rights of the agent itself; give the deployment a serviceAccount, whose rights then say what it may read, or allow it with helm.disableLookup: false`;
  // With `true` it finds nothing, as with Helm itself.
  if (getHostByName !== undefined && disableDNS === undefined)
    return `${getHostByName} calls getHostByName, and templates ask no name server unless that is allowed with helm.disableDNS: false; with true it finds nothing`;
  return undefined;
}
