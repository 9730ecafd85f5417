import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Builds the dashboard into dist/web. Nothing is inlined, so that the strict content security policy holds. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // Browsers that know light-dark(), which the tokens of style/tokens.css are written with.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    reportCompressedSize: false,
    // Of small modules, those that four files or more share are one file: a page asks for 11 to 20 files instead of 26 to 44,
    // and for no more bytes.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 4, maxModuleSize: 2000 }] } },
    },
  },
});
