/** One namespace, or all; not shown where there is only one. */
import { SelectField, type SelectFieldProps } from "./select-field.tsx";

export function NamespaceField(props: Pick<SelectFieldProps, "values" | "value" | "onChange">) {
  const { values, value } = props;
  if (values.length < 2 && value === "") return null;
  return <SelectField name="Namespace" all="every namespace" {...props} />;
}
