/** The gateway whose configuration `switchyard import` takes over, and whose file lies in the user's home. */
export const olderGateway = {
  name: 'claude-code-router',
  configPath: ['.claude-code-router', 'config.json'],
  /** Fields at the top of its configuration that mean the same here. */
  sameFields: ['HOST', 'PORT', 'APIKEY', 'LOG', 'LOG_LEVEL'],
  /** Scenarios that its `Router` has, under the same names as ours. */
  scenarios: ['background', 'think', 'longContext', 'webSearch', 'image'],
  /** Why some of its fields have no place here. */
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
