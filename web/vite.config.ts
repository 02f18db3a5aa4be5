import { defineConfig } from 'vitest/config'

// Written as ordinary React; Preact's compat layer is 60 KB smaller. Order matters: the longest names first.
const preact = [
  { find: 'react-dom/client', replacement: 'preact/compat/client' },
  { find: 'react-dom', replacement: 'preact/compat' },
  { find: 'react/jsx-runtime', replacement: 'preact/jsx-runtime' },
  { find: 'react', replacement: 'preact/compat' },
]

const server = process.env.COPYDESK_DEV_SERVER ?? 'http://127.0.0.1:4680'

// eslint-disable-next-line no-restricted-exports -- Vite reads the default export
export default defineConfig({
  resolve: { alias: preact },
  build: {
    outDir: process.env.COPYDESK_WEB_OUT ?? 'dist',
    emptyOutDir: true,
    // One sheet: its rules stand in the order of the imports, whatever is fetched later.
    cssCodeSplit: false,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // The content security policy allows fonts and pictures from the server only.
    assetsInlineLimit: 0,
    rolldownOptions: {
      // The packages of the parser do not say so themselves; without it they would be fetched before the text.
      treeshake: { moduleSideEffects: [{ test: /node_modules[\\/]@lezer/, sideEffects: false }] },
      output: {
        // An app change must not make everybody fetch the editor again.
        codeSplitting: {
          // A group takes only what it names: the editor must not take the parser along, which comes beside the text.
          includeDependenciesRecursively: false,
          groups: [
            {
              name: 'editor',
              test: /node_modules[\\/](@codemirror[\\/](?!language|search)|style-mod|w3c-keyname|crelt|@marijn)/,
            },
            { name: 'markdown', test: /node_modules[\\/](@lezer|@codemirror[\\/]language)/ },
            { name: 'find', test: /node_modules[\\/]@codemirror[\\/]search/ },
            { name: 'vendor', test: /node_modules/ },
            // Too small to be fetched one by one.
            {
              name: 'shared',
              test: /src[\\/](ui[\\/]timeFormat|document[\\/]useOpenDocument|document[\\/]unsent[\\/]unsentEdit)/,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/socket.io': { target: server, ws: true }, '/api': server } },
  test: { include: ['src/**/*.test.ts'], server: { deps: { inline: ['zustand'] } } },
})
