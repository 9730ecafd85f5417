import { afterEach, beforeEach, expect, test } from 'vitest';
import { freePort } from '../../test/peers/free-port.ts';
import { Installation } from '../../test/support/installation.ts';

let installation: Installation;
beforeEach(() => {
  installation = new Installation();
});
afterEach(() => installation.remove());

test('an mx relay is added without a host, shown as what it is, and needs a full name for EHLO', async () => {
  const add = ['relays', 'add', 'direct', '--type', 'mx', '--default'];
  const environment = { WAYBILL_SERVER__HOSTNAME: 'mail' };
  const nameless = await installation.waybill(add, { environment });
  expect(nameless).toMatchObject({ status: expect.any(Number), out: '' });
  expect(nameless.status).not.toBe(0);
  expect(nameless.err).toContain('server.hostname = "mail": must be this server');

  const sources = [
    '--max-rate-per-second',
    '7',
    '--max-message-bytes',
    '8000',
    '--max-recipients',
    '9',
    '--source-ip',
    '192.0.2.1',
    '--source-ip',
    '192.0.2.2',
  ];
  const added = await installation.waybill([...add, '--helo', 'mail.example.com', ...sources], {
    environment,
  });
  expect(added).toMatchObject({ status: 0, err: '' });
  expect(added.out).toContain('waybill relays test direct --to someone@example.net');
  const { out } = await installation.waybill(['relays', 'list'], { environment });
  expect(out).toMatch(
    /direct \(default\) +mx +recipients' MX, port 25 +opportunistic +stored +not tried yet/,
  );
  const config = await installation.waybill(['config'], { environment });
  expect(config.out).toMatch(/relays\.direct\.source_ips.*192\.0\.2\.2/);
  expect(config.out).toMatch(
    /direct\.max_rate_per_second\W+7 .*max_message_bytes\W+8000 .*max_recipients\W+9 /s,
  );

  const host = await installation.waybill(['relays', 'add', 'x', '--type', 'mx', '--host', 'h'], {
    environment,
  });
  expect(host.err).toContain('has no meaning for type mx');
  const untold = await installation.waybill(['relays', 'test', 'direct'], { environment });
  expect(untold.err).toContain('--to someone@example.net');
});

test('a size of 0 is no limit, as it is in the file', async () => {
  const add = ['relays', 'add', 'out', '--type', 'smtp', '--host', 'out.example.net', '--default'];
  const added = await installation.waybill([...add, '--max-message-bytes', '0']);
  expect(added).toMatchObject({ status: 0, err: '' });
  const { out } = await installation.waybill(['config']);
  expect(out).toMatch(/out\.max_message_bytes\W+0\W/);
});

test('the command that cures a faulty configuration ends well', async () => {
  const add = ['relays', 'add', 'direct', '--type', 'mx', '--default'];
  const well = { environment: { WAYBILL_SERVER__HOSTNAME: 'mail.example.com' } };
  const faulty = { environment: { WAYBILL_SERVER__HOSTNAME: 'mail' } };
  expect(await installation.waybill(add, well)).toMatchObject({ status: 0 });
  expect(await installation.waybill(['relays', 'list'], faulty)).toMatchObject({ status: 1, out: '' });
  const cured = await installation.waybill(['relays', 'remove', 'direct'], faulty);
  expect(cured).toEqual({ status: 0, out: 'Removed direct.\n', err: '' });
});

test('the list tells what an operator wants of a relay', async () => {
  const add = ['relays', 'add', 'out', '--type', 'smtp', '--host', 'out.example.net', '--default'];
  await installation.waybill(add);
  const states: string[] = [];
  for (const act of [
    ['queue', 'pause'],
    ['queue', 'drain'],
    ['queue', 'resume'],
    ['relays', 'disable'],
  ]) {
    expect(await installation.waybill([...act, 'out'])).toMatchObject({ status: 0 });
    const { out } = await installation.waybill(['relays', 'list']);
    states.push(/^out .* stored +(\S+(?: \S+)*)/m.exec(out)?.[1] ?? out);
  }
  expect(states).toEqual(['paused', 'draining', 'not tried yet', 'disabled']);
});

test('a stored relay is not tried yet until it is tested, however that ends', async () => {
  const port = await freePort();
  const add = ['relays', 'add', 'out', '--type', 'smtp', '--host', '127.0.0.1', '--port', String(port)];
  await installation.waybill([...add, '--tls', 'none', '--default']);
  const shown = async () => {
    const states: string[] = [];
    for (const args of [['relays', 'list'], ['relays', 'show', 'out'], ['queue']]) {
      const { out } = await installation.waybill(args);
      states.push(/^out .*?(not tried yet|ready)/m.exec(out)?.[1] ?? out);
    }
    return states;
  };
  expect(await shown()).toEqual(['not tried yet', 'not tried yet', 'not tried yet']);
  expect((await installation.waybill(['relays', 'test', 'out'])).status).not.toBe(0);
  expect(await shown()).toEqual(['ready', 'ready', 'ready']);
});
