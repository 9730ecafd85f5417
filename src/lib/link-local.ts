import { BlockList } from 'node:net';

/**
 * Addresses that only the neighbours of a machine have (RFC 3927, RFC 4291), and those at which clouds tell machines about
 * themselves, secrets too. No mail server has one.
 */
export const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');
LINK_LOCAL.addAddress('fd00:ec2::254', 'ipv6');
LINK_LOCAL.addAddress('100.100.100.200', 'ipv4');
LINK_LOCAL.addSubnet('::ffff:169.254.0.0', 112, 'ipv6');
