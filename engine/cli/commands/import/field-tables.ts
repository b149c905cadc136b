/** Field tables of claude-code-router, whose configuration `junctor import` converts. */
export const claudeCodeRouter = {
  name: 'claude-code-router',
  configPath: ['.claude-code-router', 'config.json'],
  /** Top-level fields with the same meaning here. */
  sameFields: new Set(['HOST', 'PORT', 'APIKEY', 'LOG', 'LOG_LEVEL']),
  /** Scenarios of its `Router` that exist here under the same name. */
  scenarios: new Set(['background', 'think', 'longContext', 'webSearch', 'image']),
  /** Its transformers that set members of a call's body, given as options. Ours is the `body` of a provider or model. */
  bodyTransformers: new Set(['openrouter', 'sampling', 'customparams']),
  /** An option of those that is an upper limit rather than a value to set, and the transformer that applies it here. */
  limitOption: { name: 'max_tokens', transformer: 'maxtoken' },
  /** The path of a module that routes requests. */
  routerModule: 'CUSTOM_ROUTER_PATH',
  /** Reasons why other fields are not imported, as shown to users. */
  notImported: new Map([
    ['PROXY_URL', 'set HTTPS_PROXY in the environment instead'],
    ['NON_INTERACTIVE_MODE', 'not needed'],
    ['StatusLine', 'status lines are not supported'],
    ['plugins', 'plugins have another format here'],
    ['transformers', 'transformer modules have another format here'],
    ['Presets', 'presets are folders with a manifest here'],
    ['forceUseImageAgent', 'use Router.routes.image'],
    ['REWRITE_SYSTEM_PROMPT', 'use a custom transformer'],
  ]),
} as const;
