import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'web/src/**/*.test.ts'],
    pool: 'forks',
    // The program in few files, which tools/bundle.ts made.
    server: { deps: { external: [/\/dist\/program\//] } },
    // So long that only what hangs comes to it: many tests start processes, on machines that have other work too.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
