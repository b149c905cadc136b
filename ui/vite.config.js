import { fileURLToPath } from 'node:url';

/** The gateway that `npx vite ui` takes its data from while the interface is worked on. */
const gateway = process.env.SWITCHYARD_URL ?? 'http://127.0.0.1:3456';

export default {
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/ui/',
  esbuild: { jsx: 'automatic' },
  build: {
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // The pages' policy admits files of the service alone: no `data:` address may stand in for one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    reportCompressedSize: false,
    rollupOptions: {
      // Packages mark modules for a way of rendering that isn't used here.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/v1', '/health', '/metrics', '/openapi.json', '/preset'].map((path) => [path, gateway]),
    ),
  },
};
