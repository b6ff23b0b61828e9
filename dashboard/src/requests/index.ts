export { type Answer, useAnswer } from "./answer.ts";
export { Shown } from "./shown.tsx";
export { Values } from "./values.tsx";
