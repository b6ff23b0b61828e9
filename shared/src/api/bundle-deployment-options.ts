/** How something is deployed: the options of a Bundle that each of its targets may override. */
import { z } from "zod";
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
import { helmDescription, helmOptionsSchema } from "./helm-options.ts";
import { selector } from "./label-selector.ts";

const patchOperation = fields({
  op: text("`remove`, or `ignore` to leave the whole object alone."),
  path: text("The field, as a JSON pointer."),
  value: text("The value, for operations that need one."),
});

const comparePatch = fields({
  apiVersion: text("The objects' apiVersion."),
  kind: text("The objects' kind."),
  namespace: text("The objects' namespace."),
  name: text("The object's name, or a regular expression for `op: ignore`."),
  operations: described(
    z.array(patchOperation).nullish(),
    "Changes that are made to both sides before they are compared.",
  ),
  jsonPointers: list("Fields that are not compared, as JSON pointers."),
});

const correctDriftSchema = fields({
  enabled: flag("Undo changes that somebody made to what was deployed."),
  force: flag("Delete and make anew what cannot be changed back."),
  keepFailHistory: flag("Keep the release record of a correction that failed."),
});

const downstreamResource = fields({
  kind: plainText("`Secret` or `ConfigMap`."),
  name: plainText("Its name, in the object's namespace on the hub."),
});

const overwrite = fields({
  kind: plainText("The object's kind."),
  name: plainText("The object's name."),
  namespace: plainText("The object's namespace."),
});

/** The fields, for the kinds that have them among others of their own. */
export const bundleDeploymentOptionsFields = {
  defaultNamespace: text("Where the release goes when `namespace` is empty.", {
    absent: "`default`",
  }),
  namespace: text(
    "The namespace of the release. An object for which the chart names another one goes there.",
  ),
  helm: described(helmOptionsSchema.nullish(), helmDescription),
  serviceAccount: text(
    "The ServiceAccount, in the agent's namespace, as which the agent installs, so that it can do what that account may and nothing else.",
    { absent: "`fleet-default` where it exists, else the agent's own" },
  ),
  createNamespace: described(
    z.boolean().nullish(),
    "Make the release's namespace when it is not there.",
    {
      "x-default-text": "true",
    },
  ),
  forceSyncGeneration: integer("Raise this number to have everything deployed once more."),
  keepResources: flag("Leave what was installed in the cluster when the deployment is taken away."),
  deleteNamespace: flag("Delete the release's namespace with the deployment."),
  deleteCRDResources: flag(
    "Have CustomResourceDefinitions in the chart's templates, and with them all their objects, go with the deployment, or when a newer version of the chart does not contain them any more. Otherwise they stay. Those in the chart's folder `crds` stay always.",
  ),
  correctDrift: described(
    correctDriftSchema.nullish(),
    "What happens when somebody changes what was deployed.",
  ),
  diff: described(
    fields({
      comparePatches: described(
        z.array(comparePatch).nullish(),
        "What is left out of the comparison, object by object.",
      ),
    }).nullish(),
    "What does not count as a change when what is deployed is compared with what should be.",
  ),
  ignore: described(
    fields({
      conditions: described(
        z.array(z.record(z.string(), z.string())).nullish(),
        "A condition of a deployed object that has all of an entry's fields with these values does not count against its readiness.",
      ),
    }).nullish(),
    "What does not count against readiness.",
  ),
  namespaceLabels: texts(
    "Labels of the release's namespace. Others are removed, except its name and those of `pod-security.kubernetes.io`, which are left out here too.",
  ),
  namespaceAnnotations: texts(
    "Annotations of the release's namespace. Others are removed, except those of Kubernetes itself.",
  ),
  downstreamResources: described(
    z.array(downstreamResource).nullish(),
    "Secrets and ConfigMaps that are copied from the hub into the release's namespace, and kept up to date there.",
  ),
  overwrites: described(
    z.array(overwrite).nullish(),
    "Internal to Fleet: objects that another Bundle may overwrite.",
  ),
  allowedTargetNamespaceSelector: selector(
    "Internal to Fleet: which namespaces may be deployed to.",
  ),
  yaml: described(
    fields({ overlays: list("Names of the overlays, later ones win.") }).nullish(),
    "For Bundles made from Git: overlays of plain manifests.",
  ),
  kustomize: described(
    fields({ dir: text("The directory that has the kustomization.") }).nullish(),
    "For Bundles made from Git: where the kustomization is.",
  ),
} as const;

const bundleDeploymentOptionsSchema = fields(bundleDeploymentOptionsFields);

export type BundleDeploymentOptions = Typed<typeof bundleDeploymentOptionsSchema>;
