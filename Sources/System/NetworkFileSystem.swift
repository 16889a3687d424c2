import CLinux
import Glibc

/// File systems that other machines may write to: the kernel reports neither their changes (inotify) nor their open files
/// (leases), and the status of a file may be some seconds old.
package enum NetworkFileSystem: UInt32, CaseIterable, Sendable {
  case nfs = 0x6969
  case smb = 0x517B
  case cifs = 0xFF53_4D42
  case smb2 = 0xFE53_4D42
  /// The file system of a virtual machine's host, among others.
  case plan9 = 0x0102_1997
  /// Any file system in user space: sshfs, GlusterFS, virtiofs, object stores. Some are local, which is not visible here.
  case fuse = 0x6573_5546
  case ceph = 0x00C3_6400
  case afs = 0x5346_414F
  case kernelAFS = 0x6B41_4653
  case coda = 0x7375_7245
  case lustre = 0x0BD0_0BD0
  case beeGFS = 0x1983_0326
  case gpfs = 0x4750_4653
  case orangeFS = 0x2003_0528
  case panasas = 0xAAD7_AAEA
  case gfs2 = 0x0116_1970
  case ocfs2 = 0x7461_636F
  case netWare = 0x564C
  case virtualBox = 0x786F_4256
  case vmware = 0xBACB_ACBC
  case parallels = 0x7C7C_6673

  /// - Parameter type: `f_type` of `statfs`, which is signed on some processors.
  package init?(type: Int) { self.init(rawValue: UInt32(truncatingIfNeeded: type)) }
}

extension OpenFolder {
  /// Whether it lies on a network file system; no, also when that is unknown.
  package var isOnNetwork: Bool {
    var status = statfs()
    guard uninterrupted({ fstatfs(descriptor, &status) }) == 0 else { return false }
    return NetworkFileSystem(type: Int(status.f_type)) != nil
  }
}
