/** Field tables of claude-code-router, whose configuration `switchyard import` converts. */
export const claudeCodeRouter = {
  name: 'claude-code-router',
  configPath: ['.claude-code-router', 'config.json'],
  /** Top-level fields with the same meaning here. */
  sameFields: ['HOST', 'PORT', 'APIKEY', 'LOG', 'LOG_LEVEL'],
  /** Scenarios of its `Router` that exist here under the same name. */
  scenarios: ['background', 'think', 'longContext', 'webSearch', 'image'],
  /** Reasons why other fields are not imported, as shown to users. */
  untaken: new Map([
    ['PROXY_URL', 'set HTTPS_PROXY in the environment instead'],
    ['CUSTOM_ROUTER_PATH', 'there are no routing scripts; a custom transformer or Router.routes may serve'],
    ['NON_INTERACTIVE_MODE', 'it is not needed'],
    ['StatusLine', 'there is no status line'],
    ['plugins', 'plugins are of another kind here'],
    ['transformers', 'its modules are of another kind'],
    ['Presets', 'presets are folders with a manifest here'],
    ['forceUseImageAgent', 'images go by Router.routes.image'],
    ['REWRITE_SYSTEM_PROMPT', 'a custom transformer may serve'],
  ]),
} as const;
