export {
  createPostRenderers,
  type KustomizeProgram,
  type WithPostRenderers,
} from "./post-renderers.ts";
