import { describe, expect, test } from 'vitest';
import { BOUND, premises } from '../../../test/support/premises.ts';
import { portsCheck } from './ports.ts';

describe('a port', () => {
  const look = async (change: Parameters<typeof premises>[0]) => {
    const findings = await portsCheck(premises(change), new AbortController().signal);
    return new Map(findings.map((finding) => [finding.name, finding]));
  };

  test('that the running server has is well, whoever else would get it', async () => {
    const found = await look({ bound: BOUND, machine: { tryPort: async () => 'address_in_use' } });
    for (const name of ['server', 'port 25', 'port 587', 'port 8025', 'port 8420'])
      expect(found.get(name)).toMatchObject({ status: 'ok' });
  });

  test('of the defaults that needs a privilege is a warning with the cure, one that was set a failure', async () => {
    const machine = { tryPort: async () => 'permission_denied' as const };
    const byDefault = (await look({ machine })).get('port 25');
    expect(byDefault).toMatchObject({ status: 'warn', found: expect.stringContaining('2525 is used') });
    expect(byDefault?.cure).toContain('CAP_NET_BIND_SERVICE');
    expect(byDefault?.cure).toContain('net.ipv4.ip_unprivileged_port_start=25');
    const set = await look({ machine, file: 'listener: { ports: [25] }' });
    expect(set.get('port 25')).toMatchObject({ status: 'fail' });
  });

  test('that another program has is told with that program', async () => {
    const taken = { tryPort: async () => 'address_in_use' as const };
    const known = await look({ machine: { ...taken, portOwner: async () => 'master (process 812)' } });
    expect(known.get('port 8025')?.cure).toContain('stop master (process 812)');
    expect((await look({ machine: taken })).get('port 587')?.cure).toContain('ss -ltnp');
  });

  test('that the running server lacks though it is free is a warning; port 0 is any', async () => {
    const found = await look({ bound: { ...BOUND, smtp: [2525] }, file: 'api: { port: 0 }' });
    expect(found.get('port 25')).toMatchObject({ status: 'warn', cure: expect.stringContaining('restart') });
    expect(found.get('api.port (any)')).toMatchObject({
      status: 'ok',
      found: expect.stringContaining('port 8025'),
    });
  });
});
