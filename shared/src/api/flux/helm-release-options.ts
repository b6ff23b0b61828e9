/** What a HelmRelease changes in rendered objects, and what it says about drift, order and health. */
import * as z from "zod";
import { described, fields, plainText } from "../fleet/index.ts";
import { flag, localReference, objectName, string, stringMap } from "./field.ts";

const selectorSchema = fields(
  {
    group: plainText("A regular expression for the group of the apiVersion."),
    version: plainText("A regular expression for the version of the apiVersion."),
    kind: plainText("A regular expression for the kind."),
    name: plainText("A regular expression for the name."),
    namespace: plainText("A regular expression for the namespace."),
    labelSelector: plainText("A label selector, such as `app=web,tier!=db`."),
    annotationSelector: plainText("The same for annotations."),
  },
  "Selector",
);

export const driftDetectionSchema = fields({
  mode: described(
    z.enum(["enabled", "warn", "disabled"]).optional(),
    "`warn`: drift is reported; `enabled`: it is corrected, too; `disabled`: neither.",
    { "x-default-text": "disabled" },
  ),
  ignore: described(
    z
      .array(
        fields({
          paths: described(
            z.array(z.string()),
            'Fields that are neither compared nor corrected, as JSON pointers. `""` is the whole object.',
          ),
          target: described(selectorSchema.optional(), "The objects.", { "x-default-text": "all" }),
        }),
      )
      .optional(),
    "What does not count as drift.",
  ),
});

const kustomizeSchema = fields({
  patches: described(
    z
      .array(
        fields({
          patch: described(
            z.string(),
            "A strategic merge patch, or a JSON patch, which needs a `target`.",
          ),
          target: described(selectorSchema.optional(), "The objects to patch."),
        }),
      )
      .optional(),
    "Patches, applied in this order.",
  ),
  images: described(
    z
      .array(
        fields({
          name: described(z.string(), "The image to replace, without tag and digest."),
          newName: plainText("The name to use instead."),
          newTag: plainText("The tag to use instead."),
          digest: plainText("The digest to use instead of a tag; it wins over `newTag`."),
        }),
      )
      .optional(),
    "Images of containers to replace, after the patches.",
  ),
});

export const postRenderersSchema = z.array(
  fields({ kustomize: described(kustomizeSchema.optional(), "Changes by kustomize.") }),
);

export const commonMetadataSchema = fields({
  labels: stringMap("Labels of all objects."),
  annotations: stringMap("Annotations of all objects."),
});

export const dependsOnSchema = z.array(
  fields({
    name: described(z.string(), "The name of a HelmRelease."),
    namespace: described(z.string().optional(), "Its namespace.", {
      "x-default-text": "the namespace of this one",
    }),
    readyExpr: plainText(
      "A CEL expression that is true when the dependency is met, with the variables `self` and `dep`.",
    ),
  }),
);

export const healthCheckExprsSchema = z.array(
  fields({
    apiVersion: described(z.string(), "The apiVersion of the objects."),
    kind: plainText("Their kind; absent: all kinds of the group."),
    current: described(z.string(), "A CEL expression that is true when the object is ready."),
    inProgress: plainText("A CEL expression that is true while it is in progress."),
    failed: plainText("A CEL expression that is true when it failed."),
  }),
);

export const waitStrategySchema = fields({
  name: described(
    z.enum(["poller", "legacy"]),
    "How readiness is determined: by kstatus (`poller`), or as older versions of Helm did (`legacy`).",
  ),
});

const exclusiveText =
  "kubeConfig names a Cluster in one way: set exactly one of secretRef and configMapRef";

export const kubeConfigSchema = fields({
  secretRef: described(
    fields({
      name: described(z.string(), "The Secret's name."),
      key: plainText("The key with the kubeconfig; absent: `value`, else `value.yaml`."),
    }).optional(),
    "A Secret with a kubeconfig: `<cluster>-kubeconfig` means the Cluster of that name.",
  ),
  configMapRef: localReference("A ConfigMap with how to get a kubeconfig. Not supported."),
}).meta({
  "x-kubernetes-validations": [
    { rule: "has(self.configMapRef) || has(self.secretRef)", message: exclusiveText },
    { rule: "!has(self.configMapRef) || !has(self.secretRef)", message: exclusiveText },
  ],
});

export const valuesFromSchema = z.array(
  fields(
    {
      kind: described(z.enum(["Secret", "ConfigMap"]), "The kind of the object with values."),
      name: described(objectName, "Its name; it is in the namespace of the HelmRelease."),
      valuesKey: described(
        string({ max: 253, pattern: /^[-._a-zA-Z0-9]+$/ }).optional(),
        "The key with the values.",
        { "x-default-text": "`values.yaml`" },
      ),
      targetPath: described(
        string({
          max: 250,
          pattern: /^([a-zA-Z0-9_\-.\\/]|\[[0-9]{1,5}\])+$/,
        }).optional(),
        "The path of the single value that the key has, as in `helm install --set`. Such values win over all others.",
        { "x-default-text": "the key has a YAML document of values" },
      ),
      literal: flag("With `targetPath`: the value is a text, and not parsed."),
      optional: flag("A missing object is not an error."),
    },
    "ValuesReference",
  ),
);
