/** Patterns that Flux has for trees of files. */

/** Git's own files: never part of a source. */
export const versionControlPatterns = [".git/", ".gitignore", ".gitmodules", ".gitattributes"];

/** Where the user has no pattern. */
export const builtInPatterns = [
  ...versionControlPatterns,
  ...["*.jpg", "*.jpeg", "*.gif", "*.png", "*.wmv", "*.flv", "*.tar.gz", "*.zip"],
  ...[".github/", ".circleci/", ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml"],
  ...["cloudbuild.yaml", "codeship-services.yml", "codeship-steps.yml"],
  ...["**/.goreleaser.yml", "**/.sops.yaml", "**/.flux.yaml"],
];
