/** Deployment options: a Bundle has them, and each of its targets may override them. */
import * as z from "zod";
import { driftFields } from "./drift-detection.ts";
import {
  described,
  fields,
  flag,
  integer,
  list,
  plainText,
  type Typed,
  text,
  texts,
} from "./field.ts";
import { healthCheckFields } from "./health-checks.ts";
import { helmDescription, helmOptionsSchema } from "./helm-options.ts";
import { selector } from "./label-selector.ts";
import { postRendererFields } from "./post-renderers.ts";
import { releaseActionFields } from "./release-actions.ts";

const downstreamResource = fields({
  kind: plainText("`Secret` or `ConfigMap`."),
  name: plainText("Its name, in the object's namespace on the hub."),
});

const overwrite = fields({
  kind: plainText("The object's kind."),
  name: plainText("The object's name."),
  namespace: plainText("The object's namespace."),
});

/** The fields, for the kinds that also have other fields. */
export const bundleDeploymentOptionsFields = {
  defaultNamespace: text("The namespace of the release when `namespace` is empty.", {
    absent: "`default`",
  }),
  namespace: text(
    "The namespace of the release. Objects for which the chart sets another namespace are created there.",
  ),
  helm: described(helmOptionsSchema.nullish(), helmDescription),
  ...releaseActionFields,
  ...postRendererFields,
  ...healthCheckFields,
  serviceAccount: text(
    "The ServiceAccount that the agent impersonates for the release, so that it has the permissions of that account only: a name in the agent's namespace or, if the agent was installed with `impersonation.required`, `NAMESPACE/NAME`.",
    {
      absent:
        "`fleet-default` where it exists, else the agent's own; rejected with `impersonation.required`",
    },
  ),
  createNamespace: described(
    z.boolean().nullish(),
    "Create the namespace of the release when it does not exist.",
    {
      "x-default-text": "true",
    },
  ),
  suspend: flag(
    "Do nothing, until it is false again: nothing is installed, upgraded, tested, corrected or uninstalled, and what is deployed stays. Deleting a suspended object leaves its releases installed.",
  ),
  forceSyncGeneration: integer("Increase this number to deploy everything again."),
  keepResources: flag("Keep the installed objects when the deployment is deleted."),
  deleteNamespace: flag(
    "Delete the namespace of the release with the deployment, if it was created for the release and nothing else is in it.",
  ),
  deleteCRDResources: flag(
    "Delete the CustomResourceDefinitions in the chart's templates, and so all their objects, with the deployment, or when a newer version of the chart does not have them. Otherwise they are kept. Those in the chart's folder `crds` are always kept.",
  ),
  ...driftFields,
  ignore: described(
    fields({
      conditions: described(
        z.array(z.record(z.string(), z.string())).nullish(),
        "Conditions to ignore: those that have all fields of an entry with the same values do not affect the readiness of an object.",
      ),
    }).nullish(),
    "What to ignore for readiness.",
  ),
  namespaceLabels: texts(
    "Labels of the namespace of the release. Others are removed, except its name and labels of `pod-security.kubernetes.io`, which are ignored here.",
  ),
  namespaceAnnotations: texts(
    "Annotations of the namespace of the release. Others are removed, except Kubernetes' own.",
  ),
  downstreamResources: described(
    z.array(downstreamResource).nullish(),
    "Secrets and ConfigMaps that are copied from the hub into the namespace of the release, and updated there.",
  ),
  overwrites: described(
    z.array(overwrite).nullish(),
    "Internal to Fleet: objects that another Bundle may overwrite.",
  ),
  allowedTargetNamespaceSelector: selector(
    "Labels that the namespace of the release must have; it must exist. A target's labels apply besides. Objects for which the chart sets another namespace are limited by a `serviceAccount` only.",
  ),
  yaml: described(
    fields({ overlays: list("Names of the overlays, later ones win.") }).nullish(),
    "For Bundles made from Git: overlays of plain manifests.",
  ),
  kustomize: described(
    fields({ dir: text("The directory of the kustomization.") }).nullish(),
    "For Bundles made from Git: the kustomization.",
  ),
} as const;

const bundleDeploymentOptionsSchema = fields(bundleDeploymentOptionsFields);

export type BundleDeploymentOptions = Typed<typeof bundleDeploymentOptionsSchema>;
