# To use it, copy it to the root of a clone: `nix run . -- run bfs`.
{
  description = "A cycle-level GPU simulator that runs CUDA programs and PTX kernels without a GPU";

  inputs.nixpkgs.url = "nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      forAll = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      workspace = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace;
    in
    {
      packages = forAll (
        pkgs:
        let
          build =
            arguments:
            pkgs.rustPlatform.buildRustPackage (
              {
                version = workspace.package.version;
                src = self;
                cargoLock.lockFile = ./Cargo.lock;
                buildType = "dist";
                # The tests need clang, Slurm and more: CI runs them.
                doCheck = false;
              }
              // arguments
            );
          cudart = build {
            pname = "raddle-cudart";
            cargoBuildFlags = [ "-p" "raddle-cudart" ];
          };
        in
        {
          default = build {
            pname = "raddle";
            cargoBuildFlags = [ "-p" "raddle-cli" ];
            RADDLE_EMBED_CUDART = "${cudart}/lib/libcudart.so";
            nativeBuildInputs = [ pkgs.makeWrapper ];
            postInstall = ''
              install -D -m 644 -t $out/share/doc/raddle LICENSE-MIT LICENSE-APACHE LICENSE-THIRD-PARTY
              wrapProgram $out/bin/raddle --suffix PATH : ${pkgs.lib.makeBinPath [ pkgs.clang_19 pkgs.graphviz ]}
            '';
            meta = {
              license = with pkgs.lib.licenses; [ mit asl20 ];
              mainProgram = "raddle";
              platforms = systems;
            };
          };
        }
      );
    };
}
