// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// ERC-3009 as Circle's USDC has it: a domain that lives in storage, so that it is right behind a proxy and
/// after its code was etched at another address, and a `bytes signature` twin of each call, for contract wallets.
abstract contract Authorizations is ERC3009 {
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    string private _tokenName;
    string private _tokenSymbol;
    string private _tokenVersion;

    /// What the parents' constructors write is not what a proxy reads; nothing of it is used.
    constructor() ERC20("", "") EIP712("", "") {}

    function _setDomain(string calldata name_, string calldata symbol_, string calldata version_) internal {
        _tokenName = name_;
        _tokenSymbol = symbol_;
        _tokenVersion = version_;
    }

    function name() public view override returns (string memory) {
        return _tokenName;
    }

    function symbol() public view override returns (string memory) {
        return _tokenSymbol;
    }

    function version() public view returns (string memory) {
        return _tokenVersion;
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    // solhint-disable-next-line func-name-mixedcase
    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 nameHash = keccak256(bytes(_tokenName));
        bytes32 versionHash = keccak256(bytes(_tokenVersion));
        return keccak256(abi.encode(DOMAIN_TYPEHASH, nameHash, versionHash, block.chainid, address(this)));
    }

    function eip712Domain()
        public
        view
        override
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory)
    {
        return (hex"0f", _tokenName, _tokenVersion, block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        bytes32 typehash = TRANSFER_WITH_AUTHORIZATION_TYPEHASH;
        _demand(from, keccak256(abi.encode(typehash, from, to, value, validAfter, validBefore, nonce)), signature);
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        require(to == msg.sender, ERC20InvalidReceiver(to));
        bytes32 typehash = RECEIVE_WITH_AUTHORIZATION_TYPEHASH;
        _demand(from, keccak256(abi.encode(typehash, from, to, value, validAfter, validBefore, nonce)), signature);
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes calldata signature) external {
        _demand(authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), signature);
        _cancelAuthorization(authorizer, nonce);
    }

    function _demand(address signer, bytes32 structHash, bytes calldata signature) private view {
        bool valid = SignatureChecker.isValidSignatureNowCalldata(signer, _hashTypedDataV4(structHash), signature);
        require(valid, ERC3009InvalidSignature());
    }

    function _hashTypedDataV4(bytes32 structHash) internal view override returns (bytes32) {
        return MessageHashUtils.toTypedDataHash(DOMAIN_SEPARATOR(), structHash);
    }

    /// Plain timestamps, both bounds strict: the parent's second reading as block numbers is not what USDC does.
    function _checkValidity(uint256 validAfter, uint256 validBefore) internal view override {
        bool open = block.timestamp > validAfter && block.timestamp < validBefore;
        require(open, ERC3009InvalidAuthorizationTime(validAfter, validBefore));
    }
}
