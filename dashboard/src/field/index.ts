export { CheckField } from "./check-field.tsx";
export { NamespaceField } from "./namespace-field.tsx";
export { SearchField } from "./search-field.tsx";
export { SelectField } from "./select-field.tsx";
