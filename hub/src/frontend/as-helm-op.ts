/** Reads Bundles as HelmOps, for the rules that are about HelmOps. Pure. */
import type { Bundle, HelmOp } from "@flotilla/shared/api";

/** Its `kind` stays, for messages. Of a Bundle with an origin: the account and the Secret of that. */
export function asHelmOp(bundle: Bundle): HelmOp {
  const { helmOpOptions, ...spec } = bundle.spec;
  const { helmOpSecretName, helmOpInsecureSkipTLSVerify, origin } = helmOpOptions ?? {};
  const account = origin?.serviceAccount?.replace(/^.*:/, "");
  const secret = origin?.access?.secret?.replace(/^.*\//, "") ?? helmOpSecretName;
  return {
    apiVersion: bundle.apiVersion ?? "",
    kind: origin?.kind ?? "Bundle",
    metadata: bundle.metadata,
    spec: {
      ...spec,
      ...(account !== undefined && { serviceAccount: account }),
      ...(secret && { helmSecretName: secret }),
      ...(helmOpInsecureSkipTLSVerify !== undefined && {
        insecureSkipTLSVerify: helmOpInsecureSkipTLSVerify,
      }),
    },
  };
}
