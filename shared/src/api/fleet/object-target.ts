/** Selects objects of a release, as the target of a patch of kustomize does. */
import { fields, text } from "./field.ts";

export const objectTargetSchema = fields(
  {
    group: text("A regular expression for the group of the apiVersion."),
    version: text("A regular expression for the version of the apiVersion."),
    kind: text("A regular expression for the kind."),
    name: text("A regular expression for the name."),
    namespace: text("A regular expression for the namespace, as the chart renders it."),
    labelSelector: text("A label selector, such as `app=web,tier!=db`."),
    annotationSelector: text("The same for annotations."),
  },
  "ObjectTarget",
);
