# `packaging/fill` puts in the version, the addresses and the checksums.
class Raddle < Formula
  desc "Cycle-level GPU simulator that runs CUDA programs without a GPU"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on :linux

  on_intel do
    url "@DOWNLOAD@/raddle-@VERSION@-x86_64-linux.tar.gz"
    sha256 "@SHA256_X86_64@"
  end

  on_arm do
    url "@DOWNLOAD@/raddle-@VERSION@-aarch64-linux.tar.gz"
    sha256 "@SHA256_AARCH64@"
  end

  def install
    bin.install "raddle"
    # Of the program, and of what is inside.
    doc.install "LICENSE-MIT", "LICENSE-APACHE", "LICENSE-THIRD-PARTY"
    generate_completions_from_executable(bin/"raddle", "completions")
  end

  test do
    assert_match "Raddle", shell_output("#{bin}/raddle --version")
    system bin/"raddle", "run", "bfs", "--size", "tiny", "--quiet"
  end
end
