export { useAnswer } from "./answer.ts";
export { entriesOf } from "./entries.ts";
export { Shown } from "./shown.tsx";
export { Values } from "./values.tsx";
