/**
 * SHA-256 of the native builds of uWebSockets.js, by release and by `platform-arch-Node`: they are a third party's repackaging
 * of what uNetworking publishes. Each was taken from the registry's archive whose SHA-512 the lock file holds; how a row is made
 * is told in docs/SECURITY.md.
 */
export const nativeHashes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '20.51.4': {
    'linux-x64-20': '4d482084b665c225892917ee0e9b9572d89eaa6f3dc200ff5e536293d3456c89',
    'linux-x64-22': 'f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c',
  },
  '20.69.0': {
    'linux-x64-22': '34d235864db874fbf3aeafd48b63f6fb80f61fb584a86f1e5f7b0291dbd7a3d4',
    'linux-x64-24': '177efdc682425d754474bd30f9586c487fa6694f790f3406a23885d0e61c07a0',
    'linux-x64-26': '604375741bf77780b34e7e299af9274cb1f56d73732201d19e3d8d8448176795',
  },
};
